"""Any model of the sentence-transformers library, by its name or its folder (extra `sentence-transformers`)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from alma_graph.embedding.chunking import replace_surrogates
from alma_graph.embedding.protocol import FloatMatrix, TokenSpans
from alma_graph.errors import EmbeddingError, MissingDependencyError

SENTENCE_TRANSFORMERS_PREFIX = "sentence-transformers:"
EXTRA = 'pip install "alma_graph[sentence-transformers]"'
BATCH_SIZE = 32
DEFAULT_WINDOW = 256


class SentenceTransformersEmbedder:
    """A model of sentence-transformers, loaded when first needed.

    A model that is not on this machine is downloaded by that library, because its name was asked for. `dimension` and
    `max_tokens` load the model.
    """

    def __init__(self, model: str, *, device: str | None = None) -> None:
        """`model` is a name of that library's hub or a local folder; `device` as that library takes it."""
        self.model_name = model
        self.name = f"{SENTENCE_TRANSFORMERS_PREFIX}{model}"
        self._device = device
        self._loaded: Any = None
        self._lock = threading.Lock()

    def model(self) -> Any:
        """The loaded model, once for this object.

        Raises:
            MissingDependencyError: the library is not installed.
            EmbeddingError: the library cannot load the model.
        """
        with self._lock:
            if self._loaded is None:
                try:
                    from sentence_transformers import SentenceTransformer
                except ImportError as error:
                    raise MissingDependencyError(f"sentence-transformers is needed for {self.name}: {EXTRA}") from error
                try:
                    self._loaded = SentenceTransformer(self.model_name, device=self._device)
                except Exception as error:  # hub, file and configuration errors, each of its own type
                    raise EmbeddingError(f"{self.name} cannot be loaded: {error}") from error
            return self._loaded

    @property
    def dimension(self) -> int:
        """Length of the model's vectors."""
        model = self.model()
        getter = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        return int(getter())

    @property
    def max_tokens(self) -> int:
        """Wordpieces of text that one pass reads."""
        model = self.model()
        window = model.max_seq_length or DEFAULT_WINDOW
        return int(window) - int(model.tokenizer.num_special_tokens_to_add(False))

    def tokenize_spans(self, text: str) -> TokenSpans:
        """See `SpanTokenizer`."""
        encoding = self.model().tokenizer(
            replace_surrogates(text), add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        spans = np.array(encoding["offset_mapping"], np.int64).reshape(-1, 2)
        words = np.array([-1 if word is None else word for word in encoding.word_ids()], np.int64)
        return np.concatenate([spans, words[:, np.newaxis]], axis=1)

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        """(texts, dimension) float32, unit rows."""
        cleaned = [replace_surrogates(text) for text in texts]
        if not cleaned:
            return np.empty((0, self.dimension), np.float32)
        vectors = self.model().encode(
            cleaned, batch_size=BATCH_SIZE, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, np.float32)
