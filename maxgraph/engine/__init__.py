"""Running graphs: sessions, models, and the states that live on between executions."""

from .model import Model
from .session import InferenceSession
from .spec import TensorSpec
from .state import State

__all__ = ["InferenceSession", "Model", "State", "TensorSpec"]
