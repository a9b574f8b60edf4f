"""The English parser: extraction's own pipeline, so that a process loads one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from alma_graph.extraction import DEFAULT_MODEL, shared_pipeline

_BATCH = 64


def parse(texts: Sequence[str], *, model: str = DEFAULT_MODEL) -> Iterator[Any]:
    """spaCy documents of `texts`, in order, without entity recognition.

    Raises:
        MissingDependencyError: spaCy or the model is not installed.
    """
    for start in range(0, len(texts), _BATCH):
        with shared_pipeline(model, without=("ner",)) as pipeline:
            documents = list(pipeline.pipe(texts[start : start + _BATCH], batch_size=_BATCH))
        yield from documents
