"""Weights from checkpoints: named as in the file, mapped and never copied."""

from .format import WeightsFormat, load_weights, weights_format
from .safetensors import SafetensorWeights
from .weights import WeightData, Weights

__all__ = ["SafetensorWeights", "WeightData", "Weights", "WeightsFormat", "load_weights", "weights_format"]
