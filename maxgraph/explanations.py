"""What each error code means, what raises it and how to mend it: the text of ``maxg explain``.

Titles are in `errors.CODES`. An example is Python, and a test sees that it raises its code, in a graph with the tensors
``x`` (float32[batch, 8]), ``w`` (float32[4, 8]) and ``i`` (int32[4]) and the buffer ``total`` (float32[4]). What Python
in one line cannot show, such as a file that was cut, is a sentence that begins with "when".
"""

from __future__ import annotations

from dataclasses import dataclass

from .errors import CODES

__all__ = ["Explanation", "explanation"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """An error code, explained.

    Attributes:
        code: The code.
        title: What is wrong, in a few words.
        example: Python that raises it, or a sentence that begins with "when".
        mend: What to do about it.
    """

    code: str
    title: str
    example: str
    mend: str

    @property
    def is_python(self) -> bool:
        """Whether the example is Python."""
        return not self.example.startswith("when ")


_SHIFT = (
    "Follow the line in the error to the call, and compare the types listed there with the op's page (maxg ops NAME)."
)
#: code -> example, mend.
_TEXTS: dict[str, tuple[str, str]] = {
    "MG001": ("when an op is called outside `with Graph(...):`", "Move the call into the graph's `with` block."),
    "MG002": (
        "with Graph('other'): ops.exp(x)",
        "Pass the value as an input of the other graph, or call that graph with ops.call.",
    ),
    "MG003": ("ops.exp('x')", "Give a tensor; a buffer is read with buffer[...], a number needs ops.constant."),
    "MG004": ("ops.buffer_load(x)", "Declare the input as a BufferType, or use the tensor without loading it."),
    "MG005": (
        "when a graph's `with` block ends without graph.output(...), or calls it twice",
        "Call graph.output once, with every result; graph.output() says that there is none.",
    ),
    "MG006": (
        "when two inputs or outputs have one name, or a name has other characters than a file can hold",
        "Give each input and output a name of its own: letters, digits, `_` and `.`.",
    ),
    "MG010": ("x + i", "Cast one operand: x + i.cast(DType.float32). Nothing is widened silently."),
    "MG011": (
        "x[0] + ops.constant(np.zeros(3, 'float32'), DType.float32, DeviceRef.CPU())",
        "Dims are aligned at the last axis and must be equal or 1. Use ops.rebind where two symbols are one size.",
    ),
    "MG012": (
        "ops.matmul(x, w)",
        "The left's last axis is multiplied with the right's last but one: ops.matmul(x, ops.transpose(w, -1, -2)).",
    ),
    "MG013": ("ops.sum(x, axis=2)", "Axes count from 0, or from -1 at the end: x has the axes 0 and 1."),
    "MG014": ("ops.matmul(ops.sum(x), ops.constant(1.0, DType.float32, DeviceRef.CPU()))", "Reshape or unsqueeze it."),
    "MG015": ("ops.reshape(w, [5, 5])", "The shape must follow from the operand's; symbols must be provably equal."),
    "MG016": ("ops.exp(i)", "Cast first: ops.exp(i.cast(DType.float32))."),
    "MG017": ("ops.gelu(x, 'fast')", _SHIFT),
    "MG018": ("w[4]", "An axis of size 4 has the indices -4 to 3."),
    "MG019": ("x['a']", "Indices are ints, slices, None, `...`, int64 tensors, and (slice, out_dim)."),
    "MG020": (
        "total[...] = w",
        "A stored tensor has exactly the type of the buffer, or of the part that it replaces: reshape or cast it.",
    ),
    "MG022": ("when operands lie on cpu:0 and gpu:0", "Bring them together with ops.transfer_to(x, device)."),
    "MG023": (
        "TensorType(DType.float32, ['2n'], DeviceRef.CPU())",
        "A dim is an int from 0, a name, or a Dim of those.",
    ),
    "MG024": ("bool(x)", "Use ops.where to choose elements, ops.cond to choose what is computed."),
    "MG025": ("ops.allreduce", "The error's last line says what to use instead."),
    "MG026": ("ops.random.normal(x.type)", "Call ops.random.set_seed(0) in the graph, before the first random op."),
    "MG030": (
        "when a run is given no `x`, or a `y` that the model does not have",
        "maxg inspect FILE lists the inputs.",
    ),
    "MG031": (
        "when float32[2, 7] is given for an input float32[batch, 8]",
        "Bring it to the shape that the error says.",
    ),
    "MG032": ("when float64 is given for an input float32", "Convert it: x.astype(np.float32)."),
    "MG033": (
        "when a buffer is given as a read-only array, or two buffers share memory",
        "Give each buffer writable memory of its own, contiguous, such as array.copy().",
    ),
    "MG034": ("when inputs [n] and [n] are given 3 and 4 elements", "Use one size, or name the dims differently."),
    "MG035": (
        "when an index that the graph computes lies outside its axis",
        "Nothing was changed. Clamp it in the graph with ops.min and ops.max, or give other input.",
    ),
    "MG036": ("when two threads execute with one State", "Give each thread its own: state.fork()."),
    "MG037": ("when a state of float32[4] is given to a model whose buffer is float32[8]", "Make one: model.state()."),
    "MG038": ("when a state file was saved by another program", "any_program=True takes it, if the buffers fit."),
    "MG039": ("when a weight is not in the registry or has another shape", "Add it under the name in the error."),
    "MG040": ("when gpu:0 is asked for and there is none", "maxg doctor shows which devices can be used, and why not."),
    "MG041": (
        "when a session that allows no copies runs a graph whose buffer is still read after it was written",
        "Allow copies, or read before writing; maxg inspect FILE --show plan says which buffer and why.",
    ),
    "MG042": ("when an op has no form in the opset asked for", "Ask for a higher opset."),
    "MG043": (
        "when onnxruntime refuses a model or runs out of memory",
        "Try maxg doctor; its words are in the details.",
    ),
    "MG044": (
        "when a check in the graph fails on the data that was given",
        "Every buffer is as before: give other input.",
    ),
    "MG045": ("when a graph is too large or too deeply nested for a file", "Split it into subgraphs or several files."),
    "MG046": ("when a kernel is missing on the GPU and fallback is not allowed", "Load with allow_fallback=True."),
    "MG048": ("when an execution failed under on_failure='poison'", "Restore a checkpoint, or make a new state."),
    "MG050": ("when the path does not exist or may not be written", "Check the path and its permissions."),
    "MG051": (
        "when a build script raises, or makes no graph of the name asked for",
        "maxg build --list shows its graphs.",
    ),
    "MG052": ("when -i x='[1, 2' is given", "Values are JSON, @file.npy, zeros, ones, arange or random."),
    "MG053": ("when an option has a value that it does not know", "maxg COMMAND --help lists them."),
    "MG054": (
        "when a result differs from the reference by more than the tolerance",
        "maxg compare --trace finds where.",
    ),
    "MG099": ("when maxgraph itself is wrong", "Please send the report that the error names."),
}
_DAMAGED = "Copy or build the file again; if it comes from another program, that program wrote it wrongly."
#: The file's parts, by the letter in its codes.
_PARTS = {
    "P": "the first bytes of a .maxg file",
    "H": "the header of a .maxg file",
    "T": "the table of types",
    "X": "the table of files beside it, or one of them",
    "B": "the table of blobs or the weights' bytes",
    "O": "the table of ops, or a node's use of one",
    "G": "a graph",
    "E": "a node's effects on buffers",
    "A": "a node's attributes",
    "W": "the table of weights",
    "S": "the table of states",
    "M": "the metadata",
    "D": "the debug information",
}
_MENDS = {
    "MGP02": "Give a file that maxgraph.save or maxg build wrote.",
    "MGP03": "Use a maxgraph of that major version.",
    "MGP04": "Install a newer maxgraph.",
    "MGP07": "Raise the limit if you trust the file.",
    "MGH04": "Install a newer maxgraph.",
    "MGO05": "Install a newer maxgraph.",
    "MGX09": "Put the file of weights beside the .maxg file, under the name in the error.",
    "MGX10": "Put back the file of weights that was there when the .maxg file was saved.",
    "MGX11": "Put back the file of weights that was there when the .maxg file was saved.",
}


def explanation(code: str) -> Explanation:
    """What an error code means.

    Example:
        >>> explanation("MG012").example
        'ops.matmul(x, w)'

    Raises:
        KeyError: There is no such code, or its text is missing.
    """
    title = CODES[code]
    if code in _TEXTS:
        example, mend = _TEXTS[code]
    else:
        example, mend = f"when {_PARTS[code[2]]} is damaged or made wrongly", _MENDS.get(code, _DAMAGED)
    return Explanation(code, title, example, mend)
