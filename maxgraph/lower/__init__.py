"""From a graph to an ONNX model with buffers bound in place, each binding proved on what onnxruntime executes."""

from .convert import lower
from .lowered import Lowered
from .plan import BufferPlan, Mode, Plan

__all__ = ["BufferPlan", "Lowered", "Mode", "Plan", "lower"]
