"""Is the store well, and what mends it: every check is done for real, every finding comes with its cure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alma_graph.lazy import attach

if TYPE_CHECKING:
    from alma_graph.doctor.projects import mend_projects
    from alma_graph.doctor.report import Check, DoctorReport
    from alma_graph.doctor.visit import examine

__all__ = ["Check", "DoctorReport", "examine", "mend_projects"]

__getattr__, __dir__ = attach(
    __name__,
    {
        "alma_graph.doctor.projects": ("mend_projects",),
        "alma_graph.doctor.report": (
            "Check",
            "DoctorReport",
        ),
        "alma_graph.doctor.visit": ("examine",),
    },
)
