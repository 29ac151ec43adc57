"""The smallest stateful graph: it gives what is in a buffer, and leaves one more there."""

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, DeviceRef, Graph, ops

buffer_type = BufferType(DType.float32, shape=[4], device=DeviceRef.CPU())

with Graph("buffer_demo", input_types=[buffer_type]) as graph:
    state = graph.inputs[0].buffer

    # Read the current contents into a value-semantic tensor.
    current = ops.buffer_load(state)

    # Write an updated tensor back into the same memory.
    ops.buffer_store(state, current + 1)
    graph.output(current)

    print(f"dtype: {state.dtype}")  # Output: dtype: DType.float32
    print(f"shape: {state.shape}")  # Output: shape: [Dim(4)]
