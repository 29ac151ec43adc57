"""`maxg run`."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from maxgraph.errors import UsageError, suggest

from ..console import note, number, safe, table

if TYPE_CHECKING:
    from maxgraph.engine import Model, State
    from maxgraph.graph import Graph

    from ..feeds import Feeds
    from ..values import Array

__all__ = ["command"]

_PROVIDERS = ("cpu", "cuda", "reference")


@dataclass
class _Options:
    """The options, by name."""

    file: str
    inputs: Sequence[str]
    steps: int | None
    scan: Sequence[str]
    dims: Sequence[str]
    random: bool
    seed: int
    state_in: str | None
    any_program: bool
    state_out: str | None
    set_state: Sequence[str]
    reset: Sequence[str]
    show_state: bool
    output: str | None
    print_: str
    only: Sequence[str]
    provider: str
    threads: int
    no_inplace: bool
    no_cache: bool
    allow_fallback: bool
    expect: str | None
    rtol: float | None
    atol: float | None
    as_json: bool
    quiet: int
    outputs: list[str] = field(default_factory=list)


@click.command(name="run", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="FILE.maxg")
@click.option("-i", "--input", "inputs", multiple=True, metavar="NAME=VALUE|FILE", help="An input, or a file of them.")
@click.option("--steps", type=click.IntRange(min=1), help="How often; buffers live on.")
@click.option("--scan", multiple=True, metavar="NAME", help="Step through the leading axis of this input.")
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="The size of a symbol.")
@click.option("--random", is_flag=True, help="Random values for inputs that are not given.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random values.")
@click.option("--state-in", metavar="FILE", help="Buffers to begin with (.safetensors, .npz).")
@click.option("--any-program", is_flag=True, help="Take --state-in also if another program wrote it.")
@click.option("--state-out", metavar="FILE", help="Where to write the buffers at the end.")
@click.option("--state", "set_state", multiple=True, metavar="NAME=VALUE", help="What a buffer begins with.")
@click.option("--reset", multiple=True, metavar="NAME", help="Put this buffer back to its beginning.")
@click.option("--show-state", is_flag=True, help="Show the buffers at the end.")
@click.option("-o", "--output", metavar="FILE|-", help="Outputs, stacked over steps (.npz ...).")
@click.option("--print", "print_", type=click.Choice(["summary", "values", "none"]), default="summary")
@click.option("--output-name", "only", multiple=True, metavar="NAME", help="Only this output.")
@click.option("--provider", default="cpu", envvar="MAXG_PROVIDER", show_envvar=True, help="cpu, cuda or reference.")
@click.option("--threads", type=click.IntRange(min=1), default=1, envvar="MAXG_THREADS", show_envvar=True)
@click.option("--no-inplace", is_flag=True, help="Share no memory, to look for a fault.")
@click.option("--no-cache", is_flag=True, help="Neither read nor fill the compile cache.")
@click.option("--allow-fallback", is_flag=True, help="With cuda: let the CPU run what it cannot.")
@click.option("--expect", metavar="FILE", help="Compare the outputs; exit 1 if they differ.")
@click.option("--rtol", type=float, help="Relative tolerance of --expect.")
@click.option("--atol", type=float, help="Absolute tolerance of --expect.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line (maxg.run/1).")
@click.option("-q", "--quiet", count=True, help="Less: -q the answer only, -qq nothing.")
def command(**options: Any) -> None:
    """Run a .maxg file, one step or many, with its state.

    \b
    maxg run counter.maxg --steps 3 --show-state
    maxg run model.maxg -i x='[1, 2, 3, 4]' -i y=@y.npy
    maxg run train.maxg -i data.npz --scan x --state-out trained.safetensors
    maxg run model.maxg --random --seed 1 --expect reference.npz

    VALUE is JSON, @file.npy, @set.npz:key, zeros, ones, arange, random, random:normal(0,1) or random:int(0,9).
    """  # noqa: D301 - click reads the \b
    _run(_Options(**options))


def _run(options: _Options) -> None:
    import numpy as np

    from maxgraph.format import load

    from ..feeds import read_feeds
    from ..results import check_output_path, read_expected
    from ..states import begin_state
    from ..values import parse_dims

    if options.provider not in _PROVIDERS:
        raise UsageError(
            f"there is no provider `{safe(options.provider)}`", code="MG053", help=suggest(options.provider, _PROVIDERS)
        )
    check_output_path(options.output)
    graph = load(options.file)
    options.outputs = _chosen(graph, options.only)
    expected = read_expected(options.expect, options.outputs) if options.expect is not None else {}
    rng = np.random.default_rng(options.seed)
    dims = parse_dims(options.dims)
    feeds = read_feeds(
        graph, options.inputs, scan=options.scan, steps=options.steps, dims=dims, random=options.random, rng=rng
    )
    model = _load(graph, options)
    state = begin_state(
        graph,
        model,
        state_in=options.state_in,
        any_program=options.any_program,
        reset=options.reset,
        set_state=options.set_state,
        dims=dims,
        rng=np.random.default_rng(options.seed),
    )
    uses_seed = options.random or any("random" in text for text in options.inputs)
    if not options.as_json and options.quiet < 1 and options.print_ != "none":
        click.echo(_headline(model, feeds, options, uses_seed=uses_seed))
    results = _steps(model, state, feeds, options)
    _finish(state, feeds, options, results, expected, uses_seed=uses_seed)


def _chosen(graph: Graph, only: Sequence[str]) -> list[str]:
    names = [name for name, _ in graph.results]
    for name in only:
        if name not in names:
            raise UsageError(f"there is no output `{safe(name)}`", code="MG030", help=suggest(name, names))
    return list(only) or names


def _load(graph: Graph, options: _Options) -> Model:
    from maxgraph.driver import CPU, Accelerator
    from maxgraph.engine import InferenceSession

    device = Accelerator() if options.provider == "cuda" else CPU()
    session = InferenceSession(
        devices=[device],
        num_threads=options.threads,
        buffers="copied" if options.no_inplace else "auto",
        cache=not options.no_cache,
        allow_fallback=options.allow_fallback,
    )
    return session.load(graph, reference=options.provider == "reference")


def _headline(model: Model, feeds: Feeds, options: _Options, *, uses_seed: bool) -> str:
    """Everything that was chosen, so that what is shown can be repeated."""
    parts = [options.provider, number(feeds.steps, "step"), number(options.threads, "thread")]
    if uses_seed:
        parts.append(f"seed {options.seed}")
    parts += [f"{name} = {extent}" for name, extent in feeds.sizes.items()]
    if model.plan is not None and model.plan.buffers:
        changed = [row for row in model.plan.buffers if row.mode.value != "untouched"]
        shared = sum(row.mode.shares_memory for row in changed)
        parts.append(f"in place {shared}/{len(changed)} buffers" if changed else "no buffer is changed")
    return " · ".join(parts)


def _steps(model: Model, state: State, feeds: Feeds, options: _Options) -> list[dict[str, Array]]:
    """Runs all steps; with --json each one is written as it is done."""
    from ..results import jsonable

    names = [spec.name for spec in model.output_metadata]
    given = {*feeds.fixed, *feeds.scanned}
    wanted = [spec.name for spec in model.input_metadata if spec.name in given]
    results = []
    for step, feed in enumerate(feeds.each()):
        # What the graph itself prints is no part of the answer where that is JSON.
        with contextlib.redirect_stdout(sys.stderr) if options.as_json else contextlib.nullcontext():
            outputs = model.execute(*(feed[name] for name in wanted), state=state)
        by_name = {name: b.to_numpy() for name, b in zip(names, outputs, strict=True) if name in options.outputs}
        results.append(by_name)
        if options.as_json and options.quiet < 2:
            line = {
                "schema": "maxg.run/1",
                "step": step,
                "outputs": {name: jsonable(array) for name, array in by_name.items()},
            }
            click.echo(json.dumps(line))
            sys.stdout.flush()
    return results


def _finish(
    state: State,
    feeds: Feeds,
    options: _Options,
    results: Sequence[Mapping[str, Array]],
    expected: Mapping[str, Array],
    *,
    uses_seed: bool,
) -> None:
    """Shows, saves and compares."""
    import numpy as np

    from ..results import compare, jsonable, save_results, shown, steps_table

    def stacked() -> dict[str, Array]:
        many = feeds.steps > 1 or options.scan
        return {name: np.stack([r[name] for r in results]) if many else results[0][name] for name in options.outputs}

    visible = not options.as_json and options.quiet < 2 and options.print_ != "none" and options.output != "-"
    if visible and options.outputs:
        click.echo(steps_table(options.outputs, results, whole=options.print_ == "values"))
    if options.output is not None:
        save_results(options.output, stacked())
        if options.output != "-":
            note(f"outputs → {options.output}", quiet=options.quiet or options.as_json)
    if options.show_state and visible:
        rows = [
            [f"state {name}", shown(array, whole=options.print_ == "values")] for name, array in state.as_dict().items()
        ]
        click.echo(table(rows))
    if options.state_out is not None:
        state.save(options.state_out)
        note(
            f"state → {options.state_out} ({number(len(state.names), 'buffer')})",
            quiet=options.quiet or options.as_json,
        )
    checks = compare(stacked(), expected, options.rtol, options.atol) if expected else []
    failed = [check for check in checks if not check.ok]
    if options.as_json and options.quiet < 2:
        last: dict[str, Any] = {"schema": "maxg.run/1", "steps": feeds.steps, "provider": options.provider}
        last["seed"] = options.seed if uses_seed else None
        if options.show_state:
            last["state"] = {name: jsonable(array) for name, array in state.as_dict().items()}
        if options.expect is not None:
            last["expect"] = {check.name: check.ok for check in checks}
        click.echo(json.dumps(last))
    elif options.quiet < 2:
        for check in checks:
            click.echo(check.text)
    if failed:
        raise click.exceptions.Exit(1)
