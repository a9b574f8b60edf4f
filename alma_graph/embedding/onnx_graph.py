"""Builds the ONNX graph of a BERT sentence encoder from its published weights, without torch.

The graph is the encoder of Devlin et al. (2019) with mean pooling (Reimers and Gurevych, 2019). It has two inputs,
`input_ids` and `attention_mask`, both int64 (batch, tokens), and two outputs: `last_hidden_state`, float32
(batch, tokens, hidden), and `sentence_embedding`, float32 (batch, hidden), unit rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alma_graph.errors import InvalidInputError

GRAPH_VERSION = 1
"""Raised whenever the graph that is built from the same weights changes; part of the cache key."""

ONNX_OPSET = 18
ONNX_IR_VERSION = 9
MASKED_SCORE = np.float32(-1e9)
"""Added to the attention scores of padding, so that their softmax weight is exactly 0."""

Weights = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class BertShape:
    """The sizes of a BERT encoder, as its `config.json` states them."""

    hidden_size: int
    head_count: int
    layer_count: int
    norm_epsilon: float

    @property
    def head_size(self) -> int:
        """Width of one attention head."""
        return self.hidden_size // self.head_count

    @classmethod
    def read(cls, config_path: Path) -> BertShape:
        """Reads a `config.json`.

        Raises:
            InvalidInputError: it describes no BERT encoder that this module can build.
        """
        config = json.loads(config_path.read_text(encoding="utf-8"))
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            raise InvalidInputError(
                f"{config_path} describes model_type={config.get('model_type')!r} with "
                f"hidden_act={config.get('hidden_act')!r}; only a BERT encoder with gelu can be built. "
                "Export the model to ONNX and name its folder as onnx:PATH"
            )
        return cls(
            hidden_size=config["hidden_size"],
            head_count=config["num_attention_heads"],
            layer_count=config["num_hidden_layers"],
            norm_epsilon=config["layer_norm_eps"],
        )


class _GraphWriter:
    """Collects nodes and constants; every method that adds a node returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: dict[str, Any] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        from onnx import numpy_helper

        if name not in self.initializers:
            self.initializers[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def scalar(self, value: np.float32) -> str:
        return self.constant(f"scalar_{value!s}", np.asarray(value, np.float32))

    def integers(self, *values: int) -> str:
        return self.constant("integers_" + "_".join(str(value) for value in values), np.array(values, np.int64))

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        output_name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output_name], **attributes))
        return output_name


class _BertBuilder:
    """Writes the encoder layer by layer."""

    def __init__(self, shape: BertShape, weights: Weights) -> None:
        self.shape = shape
        self.weights = weights
        self.graph = _GraphWriter()

    def linear(self, hidden: str, key: str, scale: float = 1.0) -> str:
        """A dense layer; `scale` is folded into its weights."""
        weight = self.graph.constant(f"{key}.weight", self.weights[f"{key}.weight"].T * np.float32(scale))
        bias = self.graph.constant(f"{key}.bias", self.weights[f"{key}.bias"] * np.float32(scale))
        return self.graph.node("Add", self.graph.node("MatMul", hidden, weight), bias)

    def layer_norm(self, hidden: str, key: str) -> str:
        gain = self.graph.constant(f"{key}.weight", self.weights[f"{key}.weight"])
        bias = self.graph.constant(f"{key}.bias", self.weights[f"{key}.bias"])
        return self.graph.node("LayerNormalization", hidden, gain, bias, axis=-1, epsilon=self.shape.norm_epsilon)

    def embeddings(self) -> str:
        """Word, position and token type 0, summed and normalised."""
        graph = self.graph
        words = graph.constant("word_embeddings", self.weights["embeddings.word_embeddings.weight"])
        positions = graph.constant("position_embeddings", self.weights["embeddings.position_embeddings.weight"])
        token_type = graph.constant("token_type", self.weights["embeddings.token_type_embeddings.weight"][0])
        token_count = graph.node("Shape", "input_ids", start=1, end=2)
        used_positions = graph.node("Slice", positions, graph.integers(0), token_count, graph.integers(0))
        summed = graph.node("Add", graph.node("Gather", words, "input_ids"), used_positions)
        return self.layer_norm(graph.node("Add", summed, token_type), "embeddings.LayerNorm")

    def attention(self, hidden: str, mask_bias: str, prefix: str) -> str:
        """Multi-head self-attention with its residual and norm; 1/sqrt(head size) is folded into the query weights."""
        graph, shape = self.graph, self.shape
        to_heads = graph.integers(0, 0, shape.head_count, shape.head_size)

        def heads(name: str, order: list[int], scale: float = 1.0) -> str:
            projected = self.linear(hidden, f"{prefix}.attention.self.{name}", scale)
            return graph.node("Transpose", graph.node("Reshape", projected, to_heads), perm=order)

        query = heads("query", [0, 2, 1, 3], shape.head_size**-0.5)
        key = heads("key", [0, 2, 3, 1])
        value = heads("value", [0, 2, 1, 3])
        scores = graph.node("Add", graph.node("MatMul", query, key), mask_bias)
        context = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), value)
        merged = graph.node(
            "Reshape",
            graph.node("Transpose", context, perm=[0, 2, 1, 3]),
            graph.integers(0, 0, shape.hidden_size),
        )
        output = self.linear(merged, f"{prefix}.attention.output.dense")
        return self.layer_norm(graph.node("Add", output, hidden), f"{prefix}.attention.output.LayerNorm")

    def feed_forward(self, hidden: str, prefix: str) -> str:
        """The two dense layers with the exact (erf) gelu between, residual and norm."""
        graph = self.graph
        inner = self.linear(hidden, f"{prefix}.intermediate.dense")
        error_function = graph.node("Erf", graph.node("Mul", inner, graph.scalar(np.float32(2**-0.5))))
        gate = graph.node("Add", error_function, graph.scalar(np.float32(1.0)))
        activated = graph.node("Mul", graph.node("Mul", inner, graph.scalar(np.float32(0.5))), gate)
        output = self.linear(activated, f"{prefix}.output.dense")
        return self.layer_norm(graph.node("Add", output, hidden), f"{prefix}.output.LayerNorm")

    def mean_pool(self, hidden: str, mask: str) -> None:
        """The mean over the tokens that are no padding, scaled to length 1."""
        graph = self.graph
        mask_column = graph.node("Unsqueeze", mask, graph.integers(2))
        masked = graph.node("Mul", hidden, mask_column)
        total = graph.node("ReduceSum", masked, graph.integers(1), keepdims=0)
        count = graph.node("ReduceSum", mask_column, graph.integers(1), keepdims=0)
        mean = graph.node("Div", total, graph.node("Max", count, graph.scalar(np.float32(1e-9))))
        length = graph.node("ReduceL2", mean, graph.integers(-1), keepdims=1)
        graph.node("Div", mean, graph.node("Max", length, graph.scalar(np.float32(1e-12))), output="sentence_embedding")

    def build(self) -> Any:
        """The finished, checked model."""
        import onnx
        from onnx import TensorProto, helper

        graph = self.graph
        hidden = self.embeddings()
        mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
        mask_rows = graph.node("Unsqueeze", mask, graph.integers(1, 2))
        padding = graph.node("Sub", graph.scalar(np.float32(1.0)), mask_rows)
        mask_bias = graph.node("Mul", padding, graph.scalar(MASKED_SCORE))
        for layer in range(self.shape.layer_count):
            prefix = f"encoder.layer.{layer}"
            hidden = self.feed_forward(self.attention(hidden, mask_bias, prefix), prefix)
        graph.node("Identity", hidden, output="last_hidden_state")
        self.mean_pool(hidden, mask)

        width = self.shape.hidden_size
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        outputs = [
            helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", width]),
            helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", width]),
        ]
        body = helper.make_graph(graph.nodes, "sentence_encoder", inputs, outputs, list(graph.initializers.values()))
        model = helper.make_model(body, opset_imports=[helper.make_opsetid("", ONNX_OPSET)], ir_version=ONNX_IR_VERSION)
        # Told to the loader: the vector of a text is to be the mean that it takes itself, row by row.
        helper.set_model_props(model, {"mean_pooled_by_caller": "1"})
        onnx.checker.check_model(model)
        return model


def build_onnx_graph(model_folder: Path, target: Path) -> None:
    """Writes the ONNX graph of the encoder in `model_folder` (`config.json`, `model.safetensors`) to `target`.

    Raises:
        InvalidInputError: the folder's model is no BERT encoder.
    """
    import onnx
    from safetensors.numpy import load_file

    shape = BertShape.read(model_folder / "config.json")
    weights = {
        name.removeprefix("bert."): tensor.astype(np.float32)
        for name, tensor in load_file(model_folder / "model.safetensors").items()
        if tensor.dtype.kind == "f"
    }
    onnx.save(_BertBuilder(shape, weights).build(), target)
