"""What happens to a memory after it was written: it is related, revised, retracted, restored, forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alma_graph.lazy import attach

if TYPE_CHECKING:
    from alma_graph.lifecycle.deleting import delete_project
    from alma_graph.lifecycle.forgetting import forget
    from alma_graph.lifecycle.relating import Relation, relate
    from alma_graph.lifecycle.retracting import restore, retract
    from alma_graph.lifecycle.revising import revise

__all__ = ["Relation", "delete_project", "forget", "relate", "restore", "retract", "revise"]

__getattr__, __dir__ = attach(
    __name__,
    {
        "alma_graph.lifecycle.deleting": ("delete_project",),
        "alma_graph.lifecycle.forgetting": ("forget",),
        "alma_graph.lifecycle.relating": ("Relation", "relate"),
        "alma_graph.lifecycle.retracting": ("restore", "retract"),
        "alma_graph.lifecycle.revising": ("revise",),
    },
)
