"""Sentence encoders on ONNX Runtime, from any folder with `model.onnx` and `tokenizer.json`.

A text's vector does not depend on the texts that share its batch, to the last bit: padding gets an attention weight of
exactly 0, and the mean over the tokens is taken row by row here rather than by the runtime, whose order of summation
changes with the shape of a batch.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alma_graph.embedding.cache import file_sha256
from alma_graph.embedding.chunking import replace_surrogates
from alma_graph.embedding.protocol import FloatMatrix, TokenSpans
from alma_graph.embedding.threads import thread_count
from alma_graph.errors import EmbeddingError, InvalidInputError, MissingDependencyError

BATCH_SIZE = 32
"""Texts a pass; larger batches were slower."""

BATCH_TOKENS = 4096
"""Padded tokens a pass at most, which bounds the memory that long texts take."""

DEFAULT_WINDOW = 256
LONGEST_WINDOW = 512

LOCAL_EXTRA = 'pip install "alma_graph[local]"'


@dataclass(frozen=True, slots=True)
class Tokenized:
    """The wordpieces of one text, special tokens included.

    Attributes:
        ids: (tokens,) the model's input.
        special: (tokens,) True for the tokens that the model adds itself.
    """

    ids: NDArray[np.int64]
    special: NDArray[np.bool_]


class LoadedModel:
    """An ONNX Runtime session with its tokeniser. Safe to use from several threads."""

    def __init__(self, folder: Path, *, window: int, threads: int | None = None) -> None:
        """Loads the model.

        Args:
            folder: holds `model.onnx` and `tokenizer.json`.
            window: tokens that one pass reads, special ones included.
            threads: of one pass; None is `thread_count()`.

        Raises:
            MissingDependencyError: ONNX Runtime or tokenizers is not installed.
            EmbeddingError: ONNX Runtime cannot read the model, or it has none of the outputs known here.
        """
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingDependencyError(f"{error.name} is needed to run a local model: {LOCAL_EXTRA}") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or thread_count()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Idle threads that spin would take the cores from whatever else the process does.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # The arena keeps the largest block of every shape it has seen: several times the model's own size.
        options.enable_cpu_mem_arena = False
        try:
            self.session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # both libraries raise bare exceptions of their own
            raise EmbeddingError(f"the model in {folder} cannot be loaded: {error}") from error
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.window = window
        self.pad_id = self._pad_id()
        self.input_names = self._input_names(folder)
        self.output_name, self.output_is_pooled, self.width = self._choose_output(folder)

    def _pad_id(self) -> int:
        for name in ("[PAD]", "<pad>"):
            identifier = self.tokenizer.token_to_id(name)
            if identifier is not None:
                return int(identifier)
        return 0

    def _input_names(self, folder: Path) -> tuple[str, ...]:
        names = tuple(node.name for node in self.session.get_inputs())
        unknown = sorted(set(names) - {"input_ids", "attention_mask", "token_type_ids"})
        if unknown or "input_ids" not in names:
            raise EmbeddingError(
                f"the model in {folder} takes the inputs {', '.join(names)}; "
                "a text encoder with input_ids, attention_mask and (optionally) token_type_ids is needed"
            )
        return names

    def _choose_output(self, folder: Path) -> tuple[str, bool, int]:
        """Name, whether it is one vector a text, and its width. The model's own pooling goes first, since it may be
        other than the mean; the graph built here is an exception by its name (see the module)."""
        outputs = {node.name: node.shape for node in self.session.get_outputs()}
        pooled = [name for name, shape in outputs.items() if len(shape) == 2]
        per_token = [name for name, shape in outputs.items() if len(shape) == 3]
        named = [name for name in ("sentence_embedding", "last_hidden_state", "token_embeddings") if name in outputs]
        if "mean_pooled_by_caller" in self.session.get_modelmeta().custom_metadata_map and per_token:
            named = per_token
        for name in (*named, *per_token, *pooled):
            shape = outputs[name]
            if len(shape) in (2, 3) and isinstance(shape[-1], int):
                return name, len(shape) == 2, shape[-1]
        raise EmbeddingError(
            f"the model in {folder} has the outputs {outputs}; one of shape (batch, tokens, width) or (batch, width) "
            "is needed, with a fixed width"
        )

    def tokenize(self, texts: Sequence[str]) -> list[Tokenized]:
        """The model's input for each text, cut at the window (`Encoder` cuts long texts into parts before)."""
        cleaned = [replace_surrogates(text) for text in texts]
        encodings = self.tokenizer.encode_batch(cleaned) if len(cleaned) > 1 else map(self.tokenizer.encode, cleaned)
        return [self._fit(encoding) for encoding in encodings]

    def _fit(self, encoding: Any) -> Tokenized:
        ids = np.array(encoding.ids, np.int64)
        special = np.array(encoding.special_tokens_mask, np.bool_)
        if len(ids) > self.window:
            places = np.flatnonzero(~special)[self.window - int(special.sum()) :]
            ids, special = np.delete(ids, places), np.delete(special, places)
        return Tokenized(ids, special)

    def special_token_count(self) -> int:
        """Tokens that the model adds to every text."""
        return int(self.tokenizer.num_special_tokens_to_add(False))

    def tokenize_spans(self, text: str) -> TokenSpans:
        """See `SpanTokenizer.tokenize_spans`."""
        encoding = self.tokenizer.encode(replace_surrogates(text), add_special_tokens=False)
        spans = np.array(encoding.offsets, np.int64).reshape(-1, 2)
        words = np.array([-1 if word is None else word for word in encoding.word_ids], np.int64)
        return np.concatenate([spans, words[:, np.newaxis]], axis=1)

    def run(self, tokenized: Sequence[Tokenized]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Index of a text and its output without padding, (tokens, width) or (width,), shortest texts first."""
        for batch in _batches([len(text.ids) for text in tokenized]):
            longest = max(len(tokenized[index].ids) for index in batch)
            ids = np.full((len(batch), longest), self.pad_id, np.int64)
            mask = np.zeros((len(batch), longest), np.int64)
            for row, index in enumerate(batch):
                count = len(tokenized[index].ids)
                ids[row, :count] = tokenized[index].ids
                mask[row, :count] = 1
            feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            results: Any = self.session.run([self.output_name], {name: feeds[name] for name in self.input_names})
            output: NDArray[np.float32] = results[0]
            for row, index in enumerate(batch):
                yield index, output[row] if self.output_is_pooled else output[row, : len(tokenized[index].ids)]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes in batches of texts of like length, which saves padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda place: (lengths[place], place)):
        if batch and (len(batch) == BATCH_SIZE or (len(batch) + 1) * lengths[index] > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def pool(output: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean over the tokens of (tokens, width), scaled to length 1; a vector is only scaled."""
    vector = output.astype(np.float64) if output.ndim == 1 else output.mean(axis=0, dtype=np.float64)
    return (vector / max(float(np.sqrt(np.dot(vector, vector))), 1e-12)).astype(np.float32)


class OnnxEmbedder:
    """The model of a folder with `model.onnx` and `tokenizer.json`; loaded when first needed.

    Its name is `onnx:FOLDER@HASH` with the folder's own name and the first 12 digits of the model's SHA-256, so that
    another model in the same place is not mistaken for it. The window is `max_seq_length` of
    `sentence_bert_config.json`, else the tokeniser's truncation, else 256 tokens, and at most 512.
    """

    def __init__(self, folder: Path | str, *, threads: int | None = None) -> None:
        """Checks that the files are there and hashes the model (.1 s for 90 MB).

        Raises:
            InvalidInputError: the folder lacks `model.onnx` or `tokenizer.json`.
        """
        self.folder = Path(folder).expanduser().resolve()
        missing = [name for name in ("model.onnx", "tokenizer.json") if not (self.folder / name).is_file()]
        if missing:
            raise InvalidInputError(f"{self.folder} has no {' and no '.join(missing)}; name a folder that has both")
        self.revision = file_sha256(self.folder / "model.onnx")[:12]
        self.name = f"onnx:{self.folder.name}@{self.revision}"
        self.window = _read_window(self.folder)
        self._threads = threads
        self._loaded: LoadedModel | None = None
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Width of the model's output; loads the model."""
        return self.model().width

    @property
    def max_tokens(self) -> int:
        """Wordpieces of text that one pass reads; loads the model."""
        return self.window - self.model().special_token_count()

    def model(self) -> LoadedModel:
        """The loaded model, once for this object."""
        with self._lock:
            if self._loaded is None:
                self._loaded = LoadedModel(self.folder, window=self.window, threads=self._threads)
            return self._loaded

    def tokenize_spans(self, text: str) -> TokenSpans:
        """See `SpanTokenizer`."""
        return self.model().tokenize_spans(text)

    def embed(self, texts: Sequence[str]) -> FloatMatrix:
        """(texts, dimension) float32, unit rows. A text longer than the window is cut; `Encoder` avoids that."""
        model = self.model()
        vectors = np.empty((len(texts), model.width), np.float32)
        for index, output in model.run(model.tokenize(texts)):
            vectors[index] = pool(output)
        return vectors


def _read_window(folder: Path) -> int:
    stated = None
    settings = folder / "sentence_bert_config.json"
    if settings.is_file():
        stated = json.loads(settings.read_text(encoding="utf-8")).get("max_seq_length")
    if stated is None:
        truncation = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")).get("truncation")
        stated = truncation.get("max_length") if isinstance(truncation, dict) else None
    if not isinstance(stated, int) or stated < 8:
        return DEFAULT_WINDOW
    return min(stated, LONGEST_WINDOW)
