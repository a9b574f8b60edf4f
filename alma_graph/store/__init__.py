"""One open store: its backend, what is derived from the graph, and the models that read text."""

from __future__ import annotations

from alma_graph.store.opening import open_store
from alma_graph.store.store import Store

__all__ = ["Store", "open_store"]
