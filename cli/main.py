"""The entry point: finds the command, and turns whatever happens into an exit code.

0: done, or yes. 1: the answer is no. 2: there is no answer: wrong usage, a bad file, bad input. 101: a fault in maxg.
130: interrupted.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import tempfile
import traceback

import click

from maxgraph.errors import MaxGraphError, suggest

from .console import ColourChoice, choose_colour, fail, safe, show_error

__all__ = ["cli", "main"]

_COMMANDS = {
    "build": "write the graph of a Python program to a .maxg file",
    "run": "run a .maxg file, one step or many, with its state",
    "compare": "compare a .maxg file with its meaning, another file or results",
    "check": "check every byte, the graph, its plan, and what it computes",
    "inspect": "show what is in a .maxg file, without running it",
    "cache": "show or empty the cache of lowered graphs",
    "ops": "list the ops, or show one",
    "explain": "explain a code such as MG012",
    "doctor": "try all that maxgraph needs on this machine",
}


class _Lazy(click.Group):
    """A group whose commands are imported when they are needed, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            raise click.UsageError(f"there is no command `{safe(cmd_name)}`; {suggest(cmd_name, list(_COMMANDS))}")
        module = importlib.import_module(f".commands.{cmd_name}", __package__)
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx  # from the table: listing must import nothing
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="maxg", prog_name="maxg")
@click.option(
    "--color",
    type=ColourChoice(),
    default="auto",
    envvar="MAXG_COLOR",
    show_envvar=True,
    help="Colour: auto, always or never.",
)
@click.pass_context
def cli(ctx: click.Context, color: str) -> None:
    """Graphs whose buffers are memory that lives on.

    \b
    maxg build build.py -o model.maxg
    maxg inspect model.maxg --show io,plan
    maxg run model.maxg -i x='[1, 2, 3, 4]' --steps 3
    """  # noqa: D301 - click reads the \b
    choose_colour(color)
    ctx.color = {"always": True, "never": False}.get(color)


def main() -> None:
    """Runs the command and exits."""
    choose_colour(os.environ.get("MAXG_COLOR", "auto"))
    try:
        code = cli.main(prog_name="maxg", standalone_mode=False)
        sys.stdout.flush()
    except MaxGraphError as error:
        fail(error)
        code = 2
    except click.exceptions.Exit as done:
        code = done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = 2
    except click.ClickException as error:
        _usage(error)
        code = 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        code = 130
    except BrokenPipeError:
        # Whoever read our output has enough; Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception:  # noqa: BLE001 - the last line of defence: no traceback reaches a user
        _report()
        code = 101
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: click.ClickException) -> None:
    """A wrong use of the command line, in the form of all errors."""
    show_error("error[MG053]:", error.format_message())
    context = getattr(error, "ctx", None)
    if context is not None:
        click.echo(f"help: {context.command_path} --help", err=True)


def _report() -> None:
    """A fault of our own: the traceback goes to a file."""
    with tempfile.NamedTemporaryFile("w", prefix="maxg-report-", suffix=".txt", delete=False) as file:
        file.write(f"maxg {' '.join(sys.argv[1:])}\npython {platform.python_version()} on {platform.platform()}\n\n")
        file.write(traceback.format_exc())
    show_error("error[MG099]:", "this is a fault in maxg")
    click.echo(f"  report  {file.name}", err=True)
    click.echo("help: please send the report to the developers", err=True)


if __name__ == "__main__":
    main()
