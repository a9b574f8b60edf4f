"""One open store: its backend, what is derived from the graph, and the models that read text."""

from __future__ import annotations

from alma_graph.store.opening import open_store
from alma_graph.store.sides import JudgedSide, judged_side
from alma_graph.store.store import Store

__all__ = ["JudgedSide", "Store", "judged_side", "open_store"]
