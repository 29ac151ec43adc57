"""From a graph to an ONNX model with buffers bound in place, each binding proved on what onnxruntime executes."""
