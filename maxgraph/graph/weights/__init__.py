"""Weights from checkpoints: named as in the file, mapped and never copied."""

from typing import NoReturn

from .. import only_in_max
from .format import WeightsFormat, load_weights, weights_format
from .safetensors import SafetensorWeights
from .weights import WeightData, Weights

__all__ = ["SafetensorWeights", "WeightData", "Weights", "WeightsFormat", "load_weights", "weights_format"]


def __getattr__(name: str) -> NoReturn:
    raise only_in_max.missing(__name__, name, only_in_max.WEIGHTS)
