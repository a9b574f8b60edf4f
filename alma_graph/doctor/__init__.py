"""Is the store well, and what mends it: every check is done for real, every finding comes with its cure."""

from __future__ import annotations

from alma_graph.doctor.report import Check, DoctorReport
from alma_graph.doctor.visit import examine

__all__ = ["Check", "DoctorReport", "examine"]
