"""Turns of a session, joined in the order in which they come."""

from __future__ import annotations

from alma_graph.backends.protocol import EdgeRow, UnitOfWork
from alma_graph.backends.schema import node_key
from alma_graph.index import ProjectIndex
from alma_graph.model import Memory, Observation, Outcome


class SessionLinker:
    """Adds PART_OF and NEXT edges to a unit of work."""

    def __init__(self, project_id: str, index: ProjectIndex, work: UnitOfWork) -> None:
        self._project_id = project_id
        self._index = index
        self._work = work
        self._ends: dict[str, tuple[str, int] | None] = {}

    def follow(self, memory: Memory) -> None:
        """Puts a memory at the end of its session, where it has one."""
        session_id = memory.session_id if isinstance(memory, (Observation, Outcome)) else None
        if session_id is None:
            return
        key, session = node_key(self._project_id, memory.id), node_key(self._project_id, session_id)
        if session_id not in self._ends:
            self._ends[session_id] = self._stored_end(session_id)
            started = memory.valid_from or memory.created_at
            self._work.merge_node(
                "Session", {"key": session, "id": session_id, "project_id": self._project_id, "started_at": started}
            )
        end = self._ends[session_id]
        position = 0 if end is None else end[1] + 1
        self._work.edges.append(EdgeRow("PART_OF", key, session, {"position": position}))
        if end is not None:
            self._work.edges.append(EdgeRow("NEXT", end[0], key))
        self._ends[session_id] = (key, position)

    def _stored_end(self, session_id: str) -> tuple[str, int] | None:
        """Node key and position of the last stored turn; None for a session without turns."""
        row = self._index.last_of_session(session_id)
        return None if row is None else (self._index.keys[row], int(self._index.rows.column("position")[row]))
