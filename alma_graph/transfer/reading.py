"""A file of an export, line by line: what can be read of it, and what is wrong with the rest."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.schema import node_key, project_of_key
from alma_graph.codec import row_to_memory
from alma_graph.enums import INHERITANCE_MODES, Disposition, Signal
from alma_graph.errors import AlmaGraphError, InvalidInputError, shown
from alma_graph.transfer.lines import Header, Node, Trailer, parse_line, read_edge, read_header, read_node, read_trailer

MAX_KEPT_PROBLEMS = 1_000
MAX_LINE = 1 << 30


@dataclass(frozen=True, slots=True)
class Problem:
    """A line of the file that cannot be taken, and why."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(slots=True)
class Findings:
    """What a file holds. `problems` are the first thousand of `failed`; `lines` counts readable nodes and edges."""

    header: Header
    nodes: Counter[str] = field(default_factory=Counter)
    edges: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    failed: int = 0

    @property
    def lines(self) -> int:
        """Readable nodes and edges."""
        return self.nodes.total() + self.edges.total()

    def fail(self, line: int, message: str) -> None:
        """Notes a bad line."""
        self.failed += 1
        if len(self.problems) < MAX_KEPT_PROBLEMS:
            self.problems.append(Problem(line, message))


def read_export(stream: IO[bytes], name: str, findings: list[Findings]) -> Iterator[Node | EdgeRow]:
    """The readable nodes and edges of a file, in order; what is found is put into `findings`, first of all the header.

    A line that cannot be read, a node that comes twice and an edge without its ends are noted and left out; so are a
    trailer that is missing and a checksum or a count that is not true.

    Raises:
        InvalidInputError: the first line is no header.
        StoreVersionError: a newer format or schema.
    """
    lines = _Lines(stream)
    header = _header(lines, name)
    found = Findings(header)
    findings.append(found)
    digest = hashlib.sha256(header.digested())
    keys: set[int] = set()
    trailer: Trailer | None = None
    for number, raw in lines:
        if trailer is not None:
            found.fail(number, "a line after the trailer")
            continue
        try:
            record = parse_line(raw)
            if "end" in record:
                trailer = read_trailer(record)
                continue
            digest.update(raw)
            if "node" in record:
                node = read_node(record, header.dimension)
                _check_node(*node)
                identity = hash((node[0], node[1]["key"]))
                if identity in keys:
                    raise InvalidInputError(f"{node[0]} {node[1]['key']!r} is in the file already")
                keys.add(identity)
                found.nodes[node[0]] += 1
                yield node
            elif "edge" in record:
                edge = read_edge(record, header.dimension)
                _check_edge(edge)
                for label, key in ((edge.source_label, edge.source), (edge.target_label, edge.target)):
                    if hash((label, key)) not in keys:
                        raise InvalidInputError(f"{edge.type} {edge.source!r} -> {edge.target!r}: no {label} {key!r}")
                found.edges[edge.type] += 1
                yield edge
            else:
                raise InvalidInputError("neither a node nor an edge")
        except AlmaGraphError as error:
            found.fail(number, str(error))
    _close(found, lines, trailer, digest.hexdigest())


class _Lines:
    """Lines with their numbers; where the stream breaks off, `broken` says how."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.number = 0
        self.broken: str | None = None

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while True:
            try:
                raw = self._stream.readline(MAX_LINE)
            except (EOFError, OSError, zlib.error) as error:
                self.broken = f"the file breaks off here: {error}"
                return
            if not raw:
                return
            self.number += 1
            yield self.number, raw


def _header(lines: _Lines, name: str) -> Header:
    for _, raw in lines:
        try:
            return read_header(parse_line(raw))
        except InvalidInputError as error:
            raise InvalidInputError(f"{name}, line 1: {error}; give a file that `alma-graph export` wrote") from None
    raise InvalidInputError(f"{name} is empty; give a file that `alma-graph export` wrote")


def _close(found: Findings, lines: _Lines, trailer: Trailer | None, digest: str) -> None:
    """What the end of the file says about the whole of it."""
    if lines.broken is not None:
        found.fail(lines.number + 1, lines.broken)
    if trailer is None:
        found.fail(lines.number + 1, "the trailer is missing: the file was cut off")
        return
    if found.failed:
        return
    counted = {**found.nodes, **found.edges}
    stated = {**trailer.nodes, **trailer.edges}
    if counted != stated:
        name = next(name for name in {**stated, **counted} if counted.get(name) != stated.get(name))
        found.fail(
            lines.number, f"the trailer counts {stated.get(name, 0)} {name}, the file has {counted.get(name, 0)}"
        )
    elif trailer.sha256 != digest:
        found.fail(lines.number, "the checksum is not that of the lines: something in the file was changed")


def _check_node(label: str, row: Row) -> None:
    """Raises an AlmaGraphError where the row could not be read back as what it is."""
    project = row["project_id"]
    if not project:
        raise InvalidInputError(f"{label} {row['key']!r} has no project_id")
    name = "" if label == "Project" else row.get("id", row)
    if name is not row and (name is None or row["key"] != node_key(project, name)):
        raise InvalidInputError(f"{label} {row['key']!r} is not the key of id {name!r} in project {project!r}")
    if project_of_key(row["key"]) != project:
        raise InvalidInputError(f"{label} {row['key']!r} is no key of project {project!r}")
    if label == "Memory":
        row_to_memory(row)


_VALUES = {"signal": frozenset(Signal), "disposition": frozenset(Disposition), "mode": INHERITANCE_MODES}


def _check_edge(edge: EdgeRow) -> None:
    """Raises an InvalidInputError where the edge joins two projects, or could not be read back as what it is."""
    projects = [project_of_key(end) for end in (edge.source, edge.target)]
    if projects[0] is None or projects[0] != projects[1]:
        raise InvalidInputError(f"{edge.type} joins {edge.source!r} to {edge.target!r}, which are not of one project")
    for name, value in edge.properties.items():
        if value is not None and name in _VALUES and value not in _VALUES[name]:
            allowed = ", ".join(sorted(_VALUES[name]))
            raise InvalidInputError(f"{edge.type}: {name}={shown(value)} is unknown; it is one of {allowed}")
        if value is not None and name == "evidence":
            try:
                read = json.loads(value)
            except ValueError:
                read = None
            if not isinstance(read, (dict, list)):
                raise InvalidInputError(f"{edge.type}: evidence={shown(value)} is no JSON object or list")
