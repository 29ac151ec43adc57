"""What an op's lowering writes with. It names ONNX operators as text, so that declaring an op imports no onnx."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ...dtype import DType
from ..dim import Dim
from ..ir import Block
from ..shape import Shape
from ..type import TensorType

__all__ = ["Emitter", "Handle", "OnnxAttribute", "Window"]

OnnxAttribute = int | float | str | DType | Sequence[int] | Sequence[float]


@dataclass(frozen=True, slots=True)
class Handle:
    """A value in the ONNX graph.

    Attributes:
        name: Its ONNX name, chosen by the emitter; nothing of the user's is ever part of it.
        type: What is known of its type; of an intermediate value only as much as its maker said.
    """

    name: str
    type: TensorType

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.type.dtype

    @property
    def shape(self) -> Shape:
        """The dims."""
        return self.type.shape

    @property
    def rank(self) -> int:
        """The number of dims."""
        return self.type.rank


@dataclass(frozen=True, slots=True)
class Window:
    """A strided part of a tensor: along each axis ``extent`` elements at ``start + i * step``.

    Attributes:
        starts: A static or symbolic start, or a handle (int64, one element; negative counts from the end).
        stops: Where an axis has a dynamic end that must agree with its extent, the handle; else None.
        extents: How many elements along each axis.
        steps: Not zero.
        squeezed: The axes that an integer index takes away; their extent is 1.
    """

    starts: tuple[Dim | Handle, ...]
    stops: tuple[Handle | None, ...]
    extents: Shape
    steps: tuple[int, ...]
    squeezed: tuple[int, ...]


class Emitter(Protocol):
    """Writes one op into an ONNX graph.

    A lowering gets its operands as `Handle`s and returns a `Handle` for each result.
    """

    @property
    def results(self) -> tuple[TensorType, ...]:
        """The types that the op's results must have."""
        ...

    def node(
        self,
        op_type: str,
        *inputs: Handle | None,
        domain: str = "",
        since: int = 1,
        dtype: DType | None = None,
        shape: Shape | None = None,
        **attributes: OnnxAttribute | None,
    ) -> Handle:
        """One ONNX node with one output.

        Args:
            op_type: The ONNX operator.
            *inputs: Its inputs; None leaves out an optional one.
            domain: ``""`` (ai.onnx) or ``"com.microsoft"``.
            since: The lowest opset in which the operator has this form; the model's opset is the highest asked for,
                and never below the emitter's base (18).
            dtype: The output's element type, where it is not that of the first input.
            shape: The output's dims, where they are not those of the first input and a later step asks for them.
            **attributes: ONNX attributes; a `DType` becomes ONNX's number for it; None leaves one out.
        """
        ...

    def nodes(
        self,
        op_type: str,
        *inputs: Handle | None,
        types: Sequence[TensorType],
        domain: str = "",
        since: int = 1,
        **attributes: OnnxAttribute | None,
    ) -> tuple[Handle, ...]:
        """One ONNX node with as many outputs as there are `types`."""
        ...

    def constant(self, value: object, dtype: DType = DType.int64) -> Handle:
        """A constant from numbers, nested lists or an array."""
        ...

    def weight(self, name: str) -> Handle:
        """A weight of the graph."""
        ...

    def cast(self, x: Handle, dtype: DType) -> Handle:
        """`x` in another dtype; `x` itself where it has that dtype."""
        ...

    def dims(self, shape: Shape) -> Handle:
        """The sizes of dims as an int64 vector: a constant where they are static, else computed."""
        ...

    def reshape(self, x: Handle, shape: Shape) -> Handle:
        """`x` under another shape, without a copy; `x` itself where it has that shape."""
        ...

    def note_transposed(self, turned: Handle, x: Handle) -> None:
        """Notes that a value is the transpose of a matrix, for kernels that read one either way."""
        ...

    def transposed_weight(self, x: Handle) -> Handle | None:
        """The weight whose transpose `x` is; None if it is not one's."""
        ...

    def check(self, ok: Handle, message: str) -> Handle:
        """Lets the execution fail with `message`, before any buffer is changed, unless the bool scalar `ok` holds.

        Returns:
            An int64 scalar that is 0. Added to the index that was checked, it keeps the index behind the check.
        """
        ...

    def check_size(self, count: Handle, size: Dim, message: str) -> Handle:
        """Lets the execution fail with `message` unless the int64 scalar `count` is `size`, where that is known.

        Where `size` is a symbol that nothing before it names, the result that has so many elements defines it.

        Returns:
            `count`, behind the check.
        """
        ...

    def load(self, buffer: Handle) -> Handle:
        """A buffer's contents at this point of the program."""
        ...

    def store(self, buffer: Handle, value: Handle) -> None:
        """The new contents of a buffer."""
        ...

    def load_window(self, x: Handle, window: Window) -> Handle:
        """A part of a tensor, squeezed; dynamic bounds are checked."""
        ...

    def store_window(self, buffer: Handle, value: Handle, window: Window) -> None:
        """New contents for a part of a buffer, at a cost in proportion to that part; dynamic bounds are checked."""
        ...

    def can_update(self, *buffers: Handle) -> bool:
        """Whether `update` may give these buffers a node that is right only where it changes them in place."""
        ...

    def update(
        self,
        op_type: str,
        *inputs: Handle | None,
        outputs: Sequence[TensorType | Handle],
        gate: int = 0,
        window: Window | None = None,
        domain: str = "",
        since: int = 1,
        **attributes: OnnxAttribute | None,
    ) -> tuple[Handle, ...]:
        """One ONNX node that yields new contents of buffers, which are among its inputs.

        Args:
            op_type, domain, since, attributes: As for `node`.
            *inputs: A buffer stands for its contents at this point of the program.
            outputs: For each output its type, or the buffer whose new contents it is.
            gate: An input that other nodes may be made to come before; it is a value, and no buffer.
            window: The part of each buffer that changes; None: perhaps all of it.

        Returns:
            The outputs that are no buffer's.
        """
        ...

    def in_range(self, index: Handle, high: Dim, message: str) -> Handle:
        """An int64 tensor whose elements are sure to be from 0 to `high`: checked on the feed, or in the graph."""
        ...

    def at_least(self, size: Dim, low: int, message: str) -> None:
        """Lets the execution fail with `message` where a size is less than `low`."""
        ...

    def cond(self, pred: Handle, then_block: Block, else_block: Block) -> Sequence[Handle]:
        """The results of one of two blocks; buffers are as that block leaves them."""
        ...

    def while_loop(self, initial_values: Sequence[Handle], predicate: Block, body: Block) -> Sequence[Handle]:
        """The carried values after the last round; buffers are as the body leaves them."""
        ...

    def print(self, label: str, x: Handle) -> None:
        """Shows a value each time the graph has run."""
        ...
