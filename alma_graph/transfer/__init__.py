"""Moving data: export to a file, import from one, copies from engine to engine. `docs/moving.md` has the format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alma_graph.lazy import attach

if TYPE_CHECKING:
    from alma_graph.transfer.engines import EngineMigration, migrate_engine
    from alma_graph.transfer.exporting import ExportSummary, export_backend, export_file
    from alma_graph.transfer.importing import OnConflict, import_file
    from alma_graph.transfer.reading import Problem
    from alma_graph.transfer.summary import ImportSummary

__all__ = [
    "EngineMigration",
    "ExportSummary",
    "ImportSummary",
    "OnConflict",
    "Problem",
    "export_backend",
    "export_file",
    "import_file",
    "migrate_engine",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "alma_graph.transfer.engines": (
            "EngineMigration",
            "migrate_engine",
        ),
        "alma_graph.transfer.exporting": (
            "ExportSummary",
            "export_backend",
            "export_file",
        ),
        "alma_graph.transfer.importing": (
            "OnConflict",
            "import_file",
        ),
        "alma_graph.transfer.reading": ("Problem",),
        "alma_graph.transfer.summary": ("ImportSummary",),
    },
)
