"""A decoder of Llama's architecture, which remembers what it has read.

Keys, values and the position lie in buffers, so that a caller gives bare tokens: the prompt in chunks, then one token a
step. Weights have the names of Hugging Face's checkpoints.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from maxgraph.dtype import DType
from maxgraph.graph import BufferType, BufferValue, DeviceRef, Dim, TensorValue, ops
from maxgraph.graph.weights import SafetensorWeights

CPU = DeviceRef.CPU()
F32 = DType.float32


@dataclass(frozen=True)
class Config:
    """What of a checkpoint's config.json shapes the network."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    max_position_embeddings: int
    rms_norm_eps: float
    rope_theta: float
    tie_word_embeddings: bool

    @classmethod
    def read(cls, folder: Path) -> Config:
        """The configuration of a checkpoint folder."""
        given = json.loads((folder / "config.json").read_text())
        rope = given.get("rope_scaling") or given.get("rope_parameters") or {}
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind != "default":
            raise SystemExit(f"{folder}: rotary embedding of type {kind!r} is not supported by this sample")
        heads = given["num_attention_heads"]
        return cls(
            hidden_size=given["hidden_size"],
            intermediate_size=given["intermediate_size"],
            num_hidden_layers=given["num_hidden_layers"],
            num_attention_heads=heads,
            num_key_value_heads=given.get("num_key_value_heads") or heads,
            head_dim=given.get("head_dim") or given["hidden_size"] // heads,
            vocab_size=given["vocab_size"],
            max_position_embeddings=given["max_position_embeddings"],
            rms_norm_eps=given["rms_norm_eps"],
            rope_theta=given.get("rope_theta") or rope.get("rope_theta", 10000.0),
            tie_word_embeddings=given.get("tie_word_embeddings", False),
        )


@dataclass(frozen=True)
class Memory:
    """The buffers: all that a conversation is."""

    position: BufferValue
    keys: list[BufferValue]
    values: list[BufferValue]


def remember(config: Config, capacity: int) -> Memory:
    """Makes the buffers in the current graph."""
    cache = BufferType(F32, [1, config.num_key_value_heads, capacity, config.head_dim], CPU)
    layers = range(config.num_hidden_layers)
    return Memory(
        ops.buffer_create(BufferType(DType.int64, [], CPU), 0, name="position"),
        [ops.buffer_create(cache, 0.0, name=f"keys.{layer}") for layer in layers],
        [ops.buffer_create(cache, 0.0, name=f"values.{layer}") for layer in layers],
    )


def angles(config: Config, capacity: int) -> tuple[TensorValue, TensorValue]:
    """Cosines and sines of the positions, [capacity, head_dim / 2] each."""
    pairs = np.arange(0, config.head_dim, 2) / config.head_dim
    turns = np.arange(capacity)[:, None] / config.rope_theta**pairs
    cos, sin = (ops.constant(f(turns).astype(np.float32), F32, CPU) for f in (np.cos, np.sin))
    return cos, sin


def decode(config: Config, weights: SafetensorWeights, tokens: TensorValue, memory: Memory) -> TensorValue:
    """Reads tokens ``[new]`` behind those that were read before; gives the last one's logits, ``[vocab_size]``."""
    new, width = tokens.shape[0], config.head_dim
    capacity = int(memory.keys[0].shape[2])
    cos, sin = angles(config, capacity)
    position = memory.position[...]

    def load(given: SafetensorWeights) -> TensorValue:
        return given.weight.allocate().cast(F32)

    def project(x: TensorValue, given: SafetensorWeights) -> TensorValue:
        return x @ load(given).T

    def heads(x: TensorValue, given: SafetensorWeights, count: int) -> TensorValue:
        return project(x, given).reshape([1, new, count, width]).permute([0, 2, 1, 3])

    def norm(x: TensorValue, given: SafetensorWeights) -> TensorValue:
        return ops.rms_norm(x, load(given), config.rms_norm_eps)

    embedding = load(weights.model.embed_tokens)
    x = ops.gather(embedding, tokens, axis=0)
    for layer in range(config.num_hidden_layers):
        w = weights.model.layers[layer]
        h = norm(x, w.input_layernorm)
        attended = ops.cached_attention(
            heads(h, w.self_attn.q_proj, config.num_attention_heads),
            heads(h, w.self_attn.k_proj, config.num_key_value_heads),
            heads(h, w.self_attn.v_proj, config.num_key_value_heads),
            memory.keys[layer],
            memory.values[layer],
            position,
            cos,
            sin,
        )
        flat = attended.permute([0, 2, 1, 3]).reshape([new, config.num_attention_heads * width])
        x = x + project(flat, w.self_attn.o_proj)
        h = norm(x, w.post_attention_layernorm)
        x = x + project(ops.silu(project(h, w.mlp.gate_proj)) * project(h, w.mlp.up_proj), w.mlp.down_proj)
    memory.position[...] = position + Dim(new)
    last = norm(x[-1], weights.model.norm)
    head = embedding if config.tie_word_embeddings else load(weights.lm_head)
    return last @ head.T


def parameters(weights: SafetensorWeights) -> dict[str, Any]:
    """The weights that were used, by name."""
    return weights.allocated_weights
