"""Embedders by name. One name gives one object in a process, so its model is loaded once."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from alma_graph.embedding.hashing import DEFAULT_DIMENSION, HashingEmbedder
from alma_graph.embedding.minilm import MINILM_NAME, MiniLmEmbedder, has_model, missing_packages
from alma_graph.embedding.onnx_encoder import LOCAL_EXTRA, OnnxEmbedder
from alma_graph.embedding.protocol import Embedder
from alma_graph.embedding.sentence_transformers import SENTENCE_TRANSFORMERS_PREFIX, SentenceTransformersEmbedder
from alma_graph.embedding.weights import require_weights
from alma_graph.errors import InvalidInputError, shown

DEFAULT_EMBEDDER = MINILM_NAME
HASHING_NAME = "hashing"
ONNX_PREFIX = "onnx:"
KNOWN_NAMES = (
    f'"{MINILM_NAME}" (the default), "hashing", "hashing:DIMENSION", "onnx:FOLDER" (with model.onnx and '
    'tokenizer.json), "sentence-transformers:NAME"'
)

_lock = threading.Lock()
_made: dict[str, Embedder] = {}
_stand_in_told = False


def create_embedder(name: str | Embedder | None = None) -> Embedder:
    """The embedder of a name; an embedder is checked and returned as it is.

    Making one loads no model: it is loaded by the first text, so a store can be opened where its embedder cannot run.
    None is the default for a new store: all-MiniLM-L6-v2 where the `local` extra is installed, else the hashing
    embedder, which says so on stderr once a process.

    Args:
        name: one of the known names, the name that an embedder has in a store (`hashing-384`), a folder with
            `model.onnx` and `tokenizer.json`, or any object with `name`, `dimension` and `embed`.

    Raises:
        InvalidInputError: no such name, folder or capability.
        MissingDependencyError: None was given, the `local` extra is installed, and the model's weights are missing.
    """
    if name is None:
        return _default_embedder()
    if isinstance(name, str):
        with _lock:
            if name not in _made:
                _made[name] = _make(name)
            return _made[name]
    return _checked(name)


def _default_embedder() -> Embedder:
    """The default for a new store, or its stand-in."""
    absent = missing_packages()
    if not absent:
        if not has_model():
            require_weights()
        return create_embedder(DEFAULT_EMBEDDER)
    _tell_stand_in(absent)
    return create_embedder(HASHING_NAME)


def _tell_stand_in(absent: list[str]) -> None:
    global _stand_in_told  # noqa: PLW0603 - once a process is the point
    with _lock:
        if _stand_in_told:
            return
        _stand_in_told = True
    print(
        f"alma_graph: {', '.join(absent)} not installed, so texts are compared by their words only "
        f"(embedder hashing-{DEFAULT_DIMENSION}); for {MINILM_NAME}: {LOCAL_EXTRA}",
        file=sys.stderr,
    )


def _make(name: str) -> Embedder:
    if name == MINILM_NAME:
        return MiniLmEmbedder()
    if name == HASHING_NAME:
        return HashingEmbedder()
    for prefix in ("hashing:", "hashing-"):
        if name.startswith(prefix):
            dimension = name.removeprefix(prefix)
            if not (dimension.isascii() and dimension.isdecimal()):
                raise InvalidInputError(f"embedder {name!r}: {dimension!r} is no dimension; write e.g. hashing:384")
            return HashingEmbedder(int(dimension))
    if name.startswith(ONNX_PREFIX):
        return _make_onnx(name)
    if name.startswith(SENTENCE_TRANSFORMERS_PREFIX) and len(name) > len(SENTENCE_TRANSFORMERS_PREFIX):
        return SentenceTransformersEmbedder(name.removeprefix(SENTENCE_TRANSFORMERS_PREFIX))
    if "\0" not in name and _holds_a_model(name):
        return OnnxEmbedder(name)
    raise InvalidInputError(f"no embedder is called {shown(name)}; known are {KNOWN_NAMES}, or give an object")


def _holds_a_model(folder: str) -> bool:
    try:
        return (Path(folder).expanduser() / "model.onnx").is_file()
    except (OSError, RuntimeError, ValueError):  # too long, no such home, no characters of this file system
        return False


def _make_onnx(name: str) -> Embedder:
    folder = name.removeprefix(ONNX_PREFIX)
    if not folder or "\0" in folder:
        raise InvalidInputError(f"embedder {shown(name)} names no folder; write onnx:FOLDER")
    if "@" in folder and not Path(folder).expanduser().is_dir():
        raise InvalidInputError(
            f"{name!r} is how a store remembers a model of a folder, which may have moved: name the folder itself, "
            "as onnx:FOLDER"
        )
    return OnnxEmbedder(folder)


def _checked(embedder: Embedder) -> Embedder:
    """The object, if it has what an embedder needs."""
    if isinstance(embedder, type):
        raise InvalidInputError(f"embedder={shown(embedder)} is a class; give an object of it")
    missing = [part for part in ("name", "dimension", "embed") if not hasattr(embedder, part)]
    if missing:
        raise InvalidInputError(
            f"{type(embedder).__name__} is no embedder: it has no {', '.join(missing)}; known names are {KNOWN_NAMES}"
        )
    if not isinstance(embedder.name, str) or not embedder.name.strip():
        raise InvalidInputError(f"the embedder's name is {embedder.name!r}; a text that is not empty is needed")
    dimension = embedder.dimension
    if isinstance(dimension, bool) or not isinstance(dimension, int) or dimension < 1:
        raise InvalidInputError(f"the dimension of embedder {embedder.name!r} is {dimension!r}; 1 or more is needed")
    if not callable(embedder.embed):
        raise InvalidInputError(f"embed of embedder {embedder.name!r} cannot be called")
    return embedder
