"""What can be compared: a model with a state of its own, or results that were recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..engine import Model, State
from ..errors import ExecutionError, InputError
from ..graph.graph import Graph

__all__ = ["Found", "Recorded", "Recorder", "Running", "Side"]

Array = np.ndarray[Any, Any]


@dataclass
class Found:
    """What one step gave.

    Attributes:
        outputs: By name.
        buffers: What each buffer holds after the step.
        failure: The error, if the graph fails on this data; there are no outputs then.
    """

    outputs: Mapping[str, Array]
    buffers: Mapping[str, Array]
    failure: ExecutionError | None = None


class Side(Protocol):
    """One of the two things that are compared.

    Attributes:
        name: What users call it.
    """

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    def buffers(self) -> Mapping[str, Array]:
        """What its buffers hold now."""
        ...

    def step(self, number: int, inputs: Mapping[str, Array]) -> Found:
        """Its next step.

        Args:
            number: From 0.
            inputs: An array for each tensor input.
        """
        ...


@dataclass
class Running:
    """A model, run on a state of its own.

    Attributes:
        name: What users call it.
        model: The model.
        state: Where it begins; it is changed.
        load: Makes a model of another graph in the same way; `trace` needs it.
    """

    name: str
    model: Model
    state: State
    load: Callable[[Graph], Model]
    _wanted: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self._wanted = tensor_inputs(self.model)

    def buffers(self) -> Mapping[str, Array]:
        """What its buffers hold now."""
        return self.state.as_dict()

    def step(self, number: int, inputs: Mapping[str, Array]) -> Found:
        """Its next step. See `Side.step`.

        Raises:
            InputError: An input is missing or does not fit.
        """
        del number
        missing = [name for name in self._wanted if name not in inputs]
        if missing:
            raise InputError(f"{self.name} takes an input `{missing[0]}`, which is not given", code="MG030")
        try:
            results = self.model.execute(*(inputs[name] for name in self._wanted), state=self.state)
        except ExecutionError as error:
            return Found({}, self.buffers(), error)
        outputs = [result.to_numpy() for result in results]
        names = [spec.name for spec in self.model.output_metadata]
        return Found(dict(zip(names, outputs, strict=True)), self.buffers())


def tensor_inputs(model: Model) -> list[str]:
    """The inputs of a model that are no buffers, in order."""
    buffers = {info.name for info in model.graph.buffers}
    return [info.name for info in model.graph.signature if info.name not in buffers]


@dataclass
class Recorded:
    """Results of earlier steps.

    Attributes:
        name: What users call them.
        outputs: For each output what it was in each step, along the first axis.
        after: The same for buffers after each step.
    """

    name: str
    outputs: Mapping[str, Array]
    after: Mapping[str, Array] = field(default_factory=dict)

    def buffers(self) -> Mapping[str, Array]:
        """Nothing: what was there before the first step is not recorded."""
        return {}

    def step(self, number: int, inputs: Mapping[str, Array]) -> Found:
        """What was recorded of a step. See `Side.step`.

        Raises:
            InputError: So many steps were not recorded.
        """
        del inputs
        short = [name for name, array in (*self.outputs.items(), *self.after.items()) if number >= len(array)]
        if short:
            raise InputError(f"{self.name} holds no step {number} of `{short[0]}`", code="MG030")
        outputs, buffers = (
            {name: np.asarray(array[number]) for name, array in arrays.items()} for arrays in (self.outputs, self.after)
        )
        return Found(outputs, buffers)


@dataclass
class Recorder:
    """A side whose steps are kept, so that they can be compared with later.

    Attributes:
        side: The side.
    """

    side: Side
    _steps: list[Found] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What users call it."""
        return self.side.name

    def buffers(self) -> Mapping[str, Array]:
        """What its buffers hold now."""
        return self.side.buffers()

    def step(self, number: int, inputs: Mapping[str, Array]) -> Found:
        """Its next step. See `Side.step`."""
        found = self.side.step(number, inputs)
        self._steps.append(found)
        return found

    def recorded(self) -> Recorded:
        """What its steps gave; a step that failed, and all after it, are left out."""
        steps = []
        for step in self._steps:
            if step.failure is not None:
                break
            steps.append(step)
        outputs, buffers = (
            {name: np.stack([arrays[name] for arrays in found]) for name in (found[0] if found else {})}
            for found in ([step.outputs for step in steps], [step.buffers for step in steps])
        )
        return Recorded(self.name, outputs, buffers)
