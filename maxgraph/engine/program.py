"""A lowered graph with its onnxruntime session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..driver.arrays import Array
from ..lower.lowered import InputView, Lowered
from .bound import Bound
from .failures import explain, out_of_memory
from .layout import Layout
from .memory import active, check_tensors_apart
from .ort import OrtFailure, OrtSession
from .signature import Form
from .state import State

__all__ = ["Executor", "Program"]


class Executor(Protocol):
    """What runs a graph, once everything about a call is checked but what overlaps."""

    def run(
        self, form: Form, tensors: Sequence[Array], callers: Sequence[Array], layout: Layout, state: State
    ) -> list[Array]:
        """One execution.

        Args:
            form: How the arguments were passed.
            tensors: The tensors.
            callers: The buffers that the caller passed; none where the state holds all of them.
            layout: The call's sizes.
            state: Holds the other buffers; the execution has it for itself.

        Returns:
            The outputs, arrays of the caller's own.

        Raises:
            InputError: A buffer overlaps another argument.
            StateInUseError: Another execution uses the memory of a buffer.
            ExecutionError: The graph fails on this data; every buffer is as it was.
            InternalError: Anything else.
        """
        ...


class Program:
    """Runs a lowered graph on onnxruntime.

    Attributes:
        lowered: The graph.
        session: The session; None where the graph computes nothing.
        views: Inputs that are to be bound to the memory of others, by the name of these.
        unread: Inputs of the graph that the session does not have.
        restores: Whether what a failing run overwrites is kept and put back, where that is not proved unnecessary.
    """

    def __init__(self, lowered: Lowered, session: OrtSession | None, *, restores: bool = True) -> None:
        self.lowered = lowered
        self.session = session
        self.views: dict[str, list[InputView]] = {}
        for view in lowered.entry.views if lowered.entry else ():
            self.views.setdefault(view.source, []).append(view)
        self.unread = lowered.entry.unread if lowered.entry else frozenset()
        self.restores = restores

    def run(
        self, form: Form, tensors: Sequence[Array], callers: Sequence[Array], layout: Layout, state: State
    ) -> list[Array]:
        """See `Executor.run`."""
        if self.session is None:
            return []
        pool = state.pools.get(self) or state.pool(self)
        bound: Bound | None = None
        try:
            bound = pool.free.pop()
        except IndexError:
            pass
        else:
            # Most often it is the one used last. This is part of what `serves` does; a call would be felt.
            if bound.layout is not layout or bound.swaps or bound.known != ([*map(id, callers)] if callers else []):
                bound = pool.search(bound, layout, callers)
        try:
            if bound is None:
                bound = Bound(self, form, layout, callers, state)
            if bound.swaps:
                state.forget_others(self)
            if not callers:
                return bound.run(tensors, callers)
            suspects = bound.owners.suspects
            for array in tensors:
                if suspects is None or array.base is not None or id(array) in suspects:
                    check_tensors_apart(form, bound.owners, tensors, callers)
                    break
            claim = bound.claim
            active.append(claim)  # what `take` and `release` do; calls would be felt
            if active[0] is not claim:
                claim.check()
            try:
                return bound.run(tensors, callers)
            finally:
                active.remove(claim)
        except OrtFailure as failure:
            error, changed = explain(str(failure), self.lowered, restored=self.restores)
            given = {slot.name for _, slot in form.buffers} if callers else ()
            state.doubtful.update(name for name in changed if name in state and name not in given)
            raise error from None
        except MemoryError as failure:
            raise out_of_memory(str(failure), self.lowered) from None
        finally:
            if bound is not None:
                pool.free.append(bound)
