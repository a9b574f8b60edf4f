"""The default embedder: all-MiniLM-L6-v2 on ONNX Runtime, its graph built once from the packaged weights."""

from __future__ import annotations

import importlib.util
import json
import shutil
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from alma_graph.embedding.cache import cache_folder, create_folder
from alma_graph.embedding.onnx_encoder import LOCAL_EXTRA, LoadedModel, pool
from alma_graph.embedding.onnx_graph import GRAPH_VERSION, build_onnx_graph
from alma_graph.embedding.protocol import FloatMatrix, TokenSpans, TokenVectors
from alma_graph.embedding.token_vectors import TokenProjection, content_mask
from alma_graph.embedding.weights import WEIGHTS_SHA256, check_weights, find_weights, require_weights
from alma_graph.errors import EmbeddingError, MissingDependencyError

MINILM_NAME = "all-MiniLM-L6-v2"
MINILM_DIMENSION = 384
MINILM_WINDOW = 256
"""Tokens that one pass reads, as the published model says; [CLS] and [SEP] are two of them."""

_RUN_MODULES = ("onnxruntime", "tokenizers")
_BUILD_MODULES = ("onnx", "safetensors")


def graph_folder() -> Path:
    """Where the built graph lies in the user's cache; the name holds the weights' hash and the builder's version."""
    return cache_folder() / "onnx" / f"{MINILM_NAME}-{WEIGHTS_SHA256[:12]}-graph{GRAPH_VERSION}"


def ensure_graph() -> Path:
    """The folder with `model.onnx` and `tokenizer.json`, built if it is not there. Several processes may call it.

    The hash of the weights is checked when the graph is built, not at every start.

    Raises:
        MissingDependencyError: the weights, or the packages that build the graph, are missing, or the weights are not
            the published ones.
    """

    def fill(draft: Path) -> None:
        absent = _absent(_BUILD_MODULES)
        if absent:
            raise MissingDependencyError(f"{' and '.join(absent)} must be installed to build the model: {LOCAL_EXTRA}")
        weights = require_weights()
        check_weights(weights)
        build_onnx_graph(weights, draft / "model.onnx")
        shutil.copyfile(weights / "tokenizer.json", draft / "tokenizer.json")
        sizes = {name: (draft / name).stat().st_size for name in ("model.onnx", "tokenizer.json")}
        (draft / "sizes.json").write_text(json.dumps(sizes), encoding="utf-8")

    return create_folder(graph_folder(), fill, _graph_is_complete)


def _graph_is_complete(folder: Path) -> bool:
    try:
        sizes: dict[str, int] = json.loads((folder / "sizes.json").read_text(encoding="utf-8"))
        return all((folder / name).stat().st_size == size for name, size in sizes.items()) and bool(sizes)
    except (OSError, ValueError, AttributeError):
        return False


def _absent(modules: Sequence[str]) -> list[str]:
    return [module for module in modules if importlib.util.find_spec(module) is None]


def missing_packages() -> list[str]:
    """The packages of the `local` extra that this machine lacks to run the default embedder; loads none of them."""
    absent = _absent(_RUN_MODULES)
    if not _graph_is_complete(graph_folder()):
        absent += _absent(_BUILD_MODULES)
    return absent


def has_model() -> bool:
    """Whether the weights, or the graph that was built from them, are on this machine."""
    return _graph_is_complete(graph_folder()) or find_weights() is not None


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 (Reimers and Gurevych): 384 dimensions, 256-token window, with token vectors.

    Making it is cheap; the model is loaded when first needed, once.
    """

    name = MINILM_NAME
    dimension = MINILM_DIMENSION
    max_tokens = MINILM_WINDOW - 2

    def __init__(self, *, threads: int | None = None) -> None:
        """`threads` of one pass; None is `ALMA_GRAPH_THREADS`, else the physical cores, at most 4."""
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def revision(self) -> str:
        """Hashes of the weights and of the token projection."""
        return f"{WEIGHTS_SHA256[:12]}-{TokenProjection.fingerprint()}"

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _Loaded(self._threads)
            return self._loaded

    def tokenize_spans(self, text: str) -> TokenSpans:
        """See `SpanTokenizer`."""
        return self._load().model.tokenize_spans(text)

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        """(texts, 384) float32, unit rows. A text longer than the window is cut; `Encoder` avoids that."""
        model = self._load().model
        vectors = np.empty((len(texts), MINILM_DIMENSION), np.float32)
        for index, hidden in model.run(model.tokenize(texts)):
            vectors[index] = pool(hidden)
        return vectors

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[FloatMatrix, list[TokenVectors]]:
        """As `embed`, and the token vectors of each text, from the same forward pass."""
        loaded = self._load()
        tokenized = loaded.model.tokenize(texts)
        vectors = np.empty((len(texts), MINILM_DIMENSION), np.float32)
        tokens: dict[int, TokenVectors] = {}
        for index, hidden in loaded.model.run(tokenized):
            vectors[index] = pool(hidden)
            ids = tokenized[index].ids
            kept = loaded.carries_content[ids]
            tokens[index] = TokenVectors(loaded.projection.apply(hidden[kept]), ids[kept].astype(np.uint32))
        return vectors, [tokens[index] for index in range(len(texts))]

    def hidden_states(self, texts: Sequence[str]) -> list[FloatMatrix]:
        """(content tokens, 384) float32 of each text: what the token projection is fitted on and compared with."""
        loaded = self._load()
        tokenized = loaded.model.tokenize(texts)
        states = {
            index: hidden[loaded.carries_content[tokenized[index].ids]] for index, hidden in loaded.model.run(tokenized)
        }
        return [states[index] for index in range(len(texts))]


class _Loaded:
    """The session with what the token vectors need."""

    def __init__(self, threads: int | None) -> None:
        absent = _absent(_RUN_MODULES)
        if absent:
            raise MissingDependencyError(
                f"{' and '.join(absent)} must be installed to run {MINILM_NAME}: {LOCAL_EXTRA}. "
                'Without it, embedder="hashing" works on words alone'
            )
        folder = ensure_graph()
        self.model = LoadedModel(folder, window=MINILM_WINDOW, threads=threads)
        if self.model.width != MINILM_DIMENSION:
            raise EmbeddingError(f"the model in {folder} gives {self.model.width} dimensions, not {MINILM_DIMENSION}")
        special = frozenset(
            identifier for identifier, token in self.model.tokenizer.get_added_tokens_decoder().items() if token.special
        )
        self.carries_content = content_mask(self.model.tokenizer.get_vocab(), special)

    @cached_property
    def projection(self) -> TokenProjection:
        """Read when the first token vectors are made: fitting a projection needs the model without one."""
        return TokenProjection.load()
