"""`maxg compare`."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from maxgraph.errors import UsageError, suggest

from ..console import note, number, safe

if TYPE_CHECKING:
    from maxgraph.compare import Divergence, Recorded, Report, Running, Side, Tolerances
    from maxgraph.graph import Graph

    from ..feeds import Feeds

__all__ = ["command"]

_RECORDED = (".npz", ".safetensors")


@dataclass
class _Options:
    """The options, by name."""

    file: str
    other: str | None
    against: str | None
    inputs: Sequence[str]
    steps: int | None
    scan: Sequence[str]
    dims: Sequence[str]
    random: bool
    seed: int
    state_in: str | None
    any_program: bool
    set_state: Sequence[str]
    rtol: Sequence[str]
    atol: Sequence[str]
    tolerance: Sequence[str]
    trace: bool
    record: str | None
    provider: str
    threads: int
    as_json: bool
    quiet: int


@click.command(name="compare", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="FILE.maxg")
@click.argument("other", metavar="[OTHER]", required=False)
@click.option("--against", "--with", "against", metavar="WHAT", help="The same as OTHER, see above.")
@click.option("-i", "--input", "inputs", multiple=True, metavar="NAME=VALUE|FILE", help="As for maxg run.")
@click.option("--steps", type=click.IntRange(min=1), help="How often; each side keeps its buffers.")
@click.option("--scan", multiple=True, metavar="NAME", help="Step through this input's leading axis.")
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="The size of a symbol.")
@click.option("--random", is_flag=True, help="Random inputs and buffers, others in each step.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random values.")
@click.option("--state-in", metavar="FILE", help="Buffers to begin with.")
@click.option("--any-program", is_flag=True, help="Take --state-in of another program, too.")
@click.option("--state", "set_state", multiple=True, metavar="NAME=VALUE", help="What a buffer begins with.")
@click.option("--rtol", multiple=True, metavar="[NAME:]V", help="Relative tolerance.")
@click.option("--atol", multiple=True, metavar="[NAME:]V", help="Absolute tolerance.")
@click.option("--tolerance", multiple=True, metavar="NAME=RTOL,ATOL", help="Both, of an output or a buffer.")
@click.option("--trace", is_flag=True, help="Find the first node that differs.")
@click.option("--record", metavar="FILE", help="Write FILE.maxg's results (.npz ...).")
@click.option("--provider", default="cpu", envvar="MAXG_PROVIDER", show_envvar=True, help="What runs FILE.maxg.")
@click.option("--threads", type=click.IntRange(min=1), default=1, envvar="MAXG_THREADS", show_envvar=True)
@click.option("--json", "as_json", is_flag=True, help="A JSON object (maxg.compare/1).")
@click.option("-q", "--quiet", count=True, help="Less: -q the answer only, -qq nothing.")
def command(**options: Any) -> None:
    """Compare a file's outputs and buffers, step by step; exit 1 if they differ.

    \b
    maxg compare model.maxg --random --steps 20
    maxg compare model.maxg --against copied -i x.npz --scan x
    maxg compare new.maxg old.maxg --random --trace
    maxg compare model.maxg results.npz -i x=@x.npy --tolerance y=1e-3,1e-5

    OTHER is reference (the numpy meaning, the default), copied (no memory shared), cpu, cuda, a .maxg file, or
    recorded results. NaN equals NaN. Tolerances: rtol 1.3e-6, atol 1e-5 for float32 (docs/compare.md).
    """  # noqa: D301 - click reads the \b
    _compare(_Options(**options))


def _compare(options: _Options) -> None:
    import numpy as np

    from maxgraph.compare import Recorder, compare_steps
    from maxgraph.format import load

    from ..comparison import divergence_json, divergence_text, parse_tolerances, report_json, report_text
    from ..feeds import read_feeds
    from ..recordings import recording_arrays, steps_of
    from ..results import check_output_path, save_results
    from ..sides import Start, actual_side, check_inputs, expected_side
    from ..values import parse_dims

    against = _against(options)
    if options.record == "-":
        raise UsageError("--record writes a file", code="MG052", help="use .npz, .safetensors or .json")
    check_output_path(options.record)
    graph = load(options.file)
    other = load(against) if against.endswith(".maxg") else None
    if other is not None:
        check_inputs(graph, other, options.file, against)
    if not graph.results and not graph.buffers:
        raise UsageError(f"{options.file} has neither outputs nor buffers: there is nothing to compare", code="MG052")
    names = [*(name for name, _ in graph.results), *(info.name for info in graph.buffers)]
    tolerances = parse_tolerances(options.rtol, options.atol, options.tolerance, names)
    recorded = _recorded(against, graph, options)
    steps = options.steps
    if recorded is not None:
        steps = steps_of(recorded) if steps is None and not options.scan else steps
    dims, rng = parse_dims(options.dims), np.random.default_rng(options.seed)
    feeds = read_feeds(
        graph,
        options.inputs,
        scan=options.scan,
        steps=steps,
        dims=dims,
        random=options.random,
        rng=rng,
        fresh=options.random,
    )
    if recorded is not None and feeds.steps > steps_of(recorded):
        raise UsageError(f"{feeds.steps} steps are wanted, but {against} holds {steps_of(recorded)}", code="MG052")
    start = Start(options.state_in, options.any_program, options.set_state, options.seed if options.random else None)
    actual = actual_side(graph, options.provider, options.threads, start, feeds.sizes)
    expected: Side = recorded or expected_side(against, other, actual, options.provider, options.threads, start)
    if not options.as_json and options.quiet < 1:
        click.echo(_headline(actual.name, expected.name, feeds, options))
    recorder = Recorder(actual) if options.record is not None else None
    with contextlib.redirect_stdout(sys.stderr):  # what a graph prints is no part of the answer
        report = compare_steps(recorder or actual, expected, feeds.each(), tolerances, keep_before=options.trace)
        found = _trace(report, actual, expected, tolerances) if options.trace else None
    if recorder is not None and options.record is not None:
        save_results(options.record, recording_arrays(recorder.recorded()))
        note(f"results → {options.record}", quiet=options.quiet or options.as_json)
    if options.as_json and options.quiet < 2:
        answer = {"schema": "maxg.compare/1", **report_json(report), "seed": options.seed if options.random else None}
        answer["trace"] = divergence_json(found) if found is not None else None
        click.echo(json.dumps(answer))
    elif options.quiet < 2:
        lines = report_text(report)
        click.echo("\n".join(lines[:-1] + (divergence_text(found) if found is not None else []) + lines[-1:]))
    if not report.ok:
        raise click.exceptions.Exit(1)


def _against(options: _Options) -> str:
    """What is compared with."""
    from ..sides import COPIED, PROVIDERS

    if options.other is not None and options.against is not None:
        raise UsageError("OTHER and --against are the same; give one of them", code="MG053")
    against = options.other or options.against or "reference"
    known = (*PROVIDERS, *COPIED)
    if against not in known and not against.endswith((".maxg", *_RECORDED)):
        raise UsageError(
            f"there is nothing called `{safe(against)}` to compare with",
            code="MG053",
            details=[("known", f"{', '.join(known)}, a .maxg file, or results in .npz or .safetensors")],
            help=suggest(against, known),
        )
    if options.provider not in PROVIDERS:
        raise UsageError(
            f"there is no provider `{safe(options.provider)}`", code="MG053", help=suggest(options.provider, PROVIDERS)
        )
    return against


def _recorded(against: str, graph: Graph, options: _Options) -> Recorded | None:
    from ..recordings import read_recording

    if not against.endswith(_RECORDED):
        return None
    if options.trace:
        raise UsageError(
            "--trace needs something that runs: recorded results have no values in between",
            code="MG052",
            help="compare with `reference`, `copied` or another file",
        )
    return read_recording(against, graph)


def _headline(actual: str, expected: str, feeds: Feeds, options: _Options) -> str:
    """Everything that was chosen, so that what is shown can be repeated."""
    parts = [f"{actual} against {safe(expected)}", number(feeds.steps, "step"), number(options.threads, "thread")]
    if options.random or any("random" in text for text in options.inputs):
        parts.append(f"seed {options.seed}")
    return " · ".join(parts + [f"{safe(name)} = {extent}" for name, extent in feeds.sizes.items()])


def _trace(report: Report, actual: Running, expected: Side, tolerances: Tolerances) -> Divergence | None:
    """The first node that differs in the first step that does; nothing where none does, or a side fails."""
    from maxgraph.compare import Running, trace

    if report.first is None or report.failure is not None or not isinstance(expected, Running):
        return None
    return trace(actual, expected, report.first.inputs, report.first.before, tolerances)
