"""Edges as both of their ends tell of them. The engines of Kuzu's line keep each edge twice, once at either end, and a
fault of theirs can leave one that is seen from one end alone: an answer then depends on where the engine begins.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from alma_graph.backends.embedded import statements
from alma_graph.backends.embedded.engine import Engine, Link
from alma_graph.backends.inspection import Inspection, Severity
from alma_graph.backends.schema import EDGES, NODES, EdgeSpec
from alma_graph.errors import StoreError

_FROM_SOURCE = "(a JOIN r) JOIN b"
_FROM_TARGET = "a JOIN (r JOIN b)"
_SHOWN = 5


def inspect_ends(link: Link) -> Inspection:
    """Whether every edge is seen from both ends."""
    found = one_sided(link)
    if not found:
        return Inspection("edges", Severity.OK, "each is seen from both of its ends")
    names = [f"{edge_type} {source} -> {target}" for edge_type, source, target in found]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return Inspection(
        "edges",
        Severity.PROBLEM,
        f"seen from one of their ends only, by a fault of the engine: {', '.join(names[:_SHOWN])}{more}",
        "alma-graph doctor --rebuild",
    )


def one_sided(link: Link) -> list[tuple[str, str, str]]:
    """Type, source and target of the edges that are seen from one end only, in order; one that is there several times,
    as often as one end tells more of it."""
    found: list[tuple[str, str, str]] = []
    for edge_type, spec in EDGES.items():
        for pair in spec.pairs:
            going, coming = (_sorted(_ends(link, spec, pair, order)) for order in (_FROM_SOURCE, _FROM_TARGET))
            if not going.equals(coming):
                one, other = _counted(going), _counted(coming)
                found += [(edge_type, *ends) for ends in sorted(((one - other) + (other - one)).elements())]
    return found


def build_whole(source: Link, engine: Engine, dimension: int) -> None:
    """Fills a new file with the graph that `source` reads, each edge that either end tells of included, and closes its
    engine.

    Args:
        source: a connection to the old store, which nobody writes meanwhile.
        engine: on the new file, not opened yet.
        dimension: of the vectors.

    Raises:
        StoreError: the new file does not hold what it must.
    """
    engine.open()
    try:
        with engine.transaction() as transaction:
            for statement in statements.create_tables(dimension):
                transaction.run(statement)
        engine.checkpoint()
        for label, node in NODES.items():
            wanted = statements.read_columns("n", node.columns)
            rows = source.table(f"MATCH (n:`{label}`) RETURN {wanted}")
            _copy(engine, f"COPY `{label}` FROM $rows", rows.rename_columns([column.name for column in node.columns]))
        for spec in EDGES.values():
            for pair in spec.pairs:
                named = f" (from='{pair[0]}', to='{pair[1]}')" if len(spec.pairs) > 1 else ""
                _copy(engine, f"COPY `{spec.type}` FROM $rows{named}", _from_both_ends(source, spec, pair))
        engine.checkpoint()
        if one_sided(engine.reader()):
            raise StoreError(f"{engine.path} has edges that are seen from one end only; the store was left as it is")
    finally:
        engine.close()
    if engine.log_bytes():
        raise StoreError(f"{engine.path} kept a log behind its checkpoint; the store was left as it is")


def _ends(link: Link, spec: EdgeSpec, pair: tuple[str, str], order: str, columns: str = "") -> Any:
    """Source and target of each edge of one pair of labels (and more of it), read in this order of joins."""
    pattern = f"(a:`{pair[0]}`)-[r:`{spec.type}`]->(b:`{pair[1]}`)"
    return link.table(f"MATCH {pattern} HINT {order} RETURN a.`key`, b.`key`{columns}")


def _from_both_ends(link: Link, spec: EdgeSpec, pair: tuple[str, str]) -> Any:
    """The edges of one pair with their properties, as the one end tells of them, and what the other adds."""
    import pyarrow as pa

    columns = "".join(f", r.`{column.name}`" for column in spec.columns)
    names = ["from", "to", *(f"p_{column.name}" for column in spec.columns)]
    going, coming = (
        _ends(link, spec, pair, order, columns).rename_columns(names) for order in (_FROM_SOURCE, _FROM_TARGET)
    )
    known = _counted(going)
    added: list[int] = []
    if known != (told := _counted(coming)):
        left = told - known
        for at, ends in enumerate(zip(coming.column(0).to_pylist(), coming.column(1).to_pylist(), strict=True)):
            if left[ends] > 0:
                left[ends] -= 1
                added.append(at)
    return pa.concat_tables([going, coming.take(pa.array(added, pa.int64()))]) if added else going


def _sorted(ends: Any) -> Any:
    named = ends.rename_columns(["from", "to"])
    return named.sort_by([("from", "ascending"), ("to", "ascending")]).combine_chunks()


def _counted(ends: Any) -> Counter[tuple[str, str]]:
    return Counter(zip(ends.column(0).to_pylist(), ends.column(1).to_pylist(), strict=True))


def _copy(engine: Engine, statement: str, table: Any) -> None:
    if table.num_rows:
        with engine.transaction(guarded=True) as transaction:
            transaction.copy(statement, table.combine_chunks())
