"""Work on a store as a whole: other vectors, a backup, a newer schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alma_graph.lazy import attach

if TYPE_CHECKING:
    from alma_graph.backends.maintenance import Migrated
    from alma_graph.maintenance.files import BackedUp, back_up, backup, migrate
    from alma_graph.maintenance.reembedding import Reembedded, reembed, reembed_store

__all__ = ["BackedUp", "Migrated", "Reembedded", "back_up", "backup", "migrate", "reembed", "reembed_store"]

__getattr__, __dir__ = attach(
    __name__,
    {
        "alma_graph.backends.maintenance": ("Migrated",),
        "alma_graph.maintenance.files": (
            "BackedUp",
            "back_up",
            "backup",
            "migrate",
        ),
        "alma_graph.maintenance.reembedding": (
            "Reembedded",
            "reembed",
            "reembed_store",
        ),
    },
)
