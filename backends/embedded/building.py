"""A whole store in a new file, made from an open one with other vectors.

The dimension is part of a column's type, so vectors of another length need another table. All else goes from engine to
engine as Arrow, without becoming Python objects. What is made is no store until it takes the old one's place, so a
failure costs a file and nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from alma_graph.backends.embedded import statements
from alma_graph.backends.embedded.arrow import node_table, vector_columns
from alma_graph.backends.embedded.engine import Engine, Link
from alma_graph.backends.maintenance import SOURCE_COLUMNS, MemoryVectors, VectorSource, VectorSpace
from alma_graph.backends.protocol import EdgeRow, Row
from alma_graph.backends.schema import EDGES, NODES, EdgeSpec, NodeSpec
from alma_graph.errors import StoreError

_BATCH = 2_000
"""Memories whose new vectors are held at once."""

_REMADE = ("Memory", "Chunk", "Meta")


def build_with_vectors(source: Link, engine: Engine, meta: Row, space: VectorSpace, vectors_of: VectorSource) -> None:
    """Fills a new file with the graph that `source` reads, with other vectors, and closes its engine.

    Args:
        source: a connection to the old store, which nobody writes meanwhile.
        engine: on the new file, not opened yet.
        meta: the old store's Meta row.
        space: what the new vectors are.
        vectors_of: makes them.

    Raises:
        StoreError: the new file does not hold what the old one holds.
    """
    engine.open()
    try:
        with engine.transaction() as transaction:
            for statement in statements.create_tables(space.dimension):
                transaction.run(statement)
        engine.checkpoint()
        chunks: list[EdgeRow] = []
        counts = {"Meta": 1, "Memory": 0, "Chunk": 0}
        for label, spec in NODES.items():
            if label not in _REMADE:
                counts[label] = _copy_all(engine, f"COPY `{label}` FROM $rows", _nodes(source, spec))
        memories = _nodes(source, NODES["Memory"], without=vector_columns("Memory"))
        counts["Memory"] = memories.num_rows
        for start in range(0, memories.num_rows, _BATCH):
            chunks += _copy_memories(engine, memories.slice(start, _BATCH), space.dimension, vectors_of)
        counts["Chunk"] = len(chunks)
        counts |= _copy_edges(source, engine, chunks)
        row = {
            **meta,
            "dimension": space.dimension,
            "embedder": space.embedder,
            "embedder_revision": space.embedder_revision,
            "sequence": int(meta["sequence"]) + 1,
        }
        with engine.transaction() as transaction:
            transaction.run(*statements.create_node(NODES["Meta"], row, space.dimension))
        engine.checkpoint()
        _check(engine, counts)
    finally:
        engine.close()
    if engine.log_bytes():
        raise StoreError(f"{engine.path} kept a log behind its checkpoint; the store was left as it is")


def _nodes(source: Link, spec: NodeSpec, without: Sequence[str] = ()) -> Any:
    columns = [column for column in spec.columns if column.name not in without]
    table = source.table(f"MATCH (n:`{spec.label}`) RETURN {statements.read_columns('n', columns)}")
    return table.rename_columns([column.name for column in columns])


def _copy_all(engine: Engine, statement: str, table: Any) -> int:
    """Copies a table, in a transaction of its own; returns its rows."""
    if table.num_rows:
        with engine.transaction(guarded=True) as transaction:
            transaction.copy(statement, table.combine_chunks())
    rows: int = table.num_rows
    return rows


def _copy_memories(engine: Engine, memories: Any, dimension: int, vectors_of: VectorSource) -> list[EdgeRow]:
    """Copies some memories with their new vectors and chunks; returns the edges to the chunks."""
    made = vectors_of(memories.select(SOURCE_COLUMNS).to_pylist())
    names = vector_columns("Memory")
    added = node_table(
        [column for column in NODES["Memory"].columns if column.name in names],
        [{name: getattr(item, name) for name in names} for item in made],
        dimension,
    )
    every = {name: memories.column(name) for name in memories.column_names}
    every |= {name: added.column(name) for name in added.column_names}
    table = _table_of([every[column.name] for column in NODES["Memory"].columns], NODES["Memory"])
    _copy_all(engine, "COPY `Memory` FROM $rows", table)
    return _copy_chunks(engine, memories.column("key").to_pylist(), made, dimension)


def _copy_chunks(engine: Engine, keys: Sequence[str], made: Sequence[MemoryVectors], dimension: int) -> list[EdgeRow]:
    rows = [chunk for item in made for chunk in item.chunks]
    if rows:
        _copy_all(engine, "COPY `Chunk` FROM $rows", node_table(NODES["Chunk"].columns, rows, dimension))
    return [
        EdgeRow("HAS_CHUNK", key, chunk["key"]) for key, item in zip(keys, made, strict=True) for chunk in item.chunks
    ]


def _copy_edges(source: Link, engine: Engine, chunks: Sequence[EdgeRow]) -> dict[str, int]:
    import pyarrow as pa

    counts = {}
    for edge_type, spec in EDGES.items():
        if edge_type == "HAS_CHUNK":
            ends = [pa.array([getattr(edge, end) for edge in chunks], pa.string()) for end in ("source", "target")]
            counts[edge_type] = _copy_all(engine, f"COPY `{edge_type}` FROM $rows", pa.table(ends, ["from", "to"]))
            continue
        counts[edge_type] = 0
        for pair in spec.pairs:
            named = f" (from='{pair[0]}', to='{pair[1]}')" if len(spec.pairs) > 1 else ""
            counts[edge_type] += _copy_all(engine, f"COPY `{edge_type}` FROM $rows{named}", _edges(source, spec, pair))
    return counts


def _edges(source: Link, spec: EdgeSpec, pair: tuple[str, str]) -> Any:
    wanted = ", ".join(["a.`key`", "b.`key`", *(f"r.`{column.name}`" for column in spec.columns)])
    table = source.table(f"MATCH (a:`{pair[0]}`)-[r:`{spec.type}`]->(b:`{pair[1]}`) RETURN {wanted}")
    return table.rename_columns(["from", "to", *(f"p_{column.name}" for column in spec.columns)])


def _table_of(columns: Sequence[Any], spec: NodeSpec) -> Any:
    import pyarrow as pa

    return pa.table(list(columns), [column.name for column in spec.columns])


def _check(engine: Engine, expected: dict[str, int]) -> None:
    """Raises StoreError where the new file has not as many of everything as it must."""
    for name, count in expected.items():
        pattern = f"(n:`{name}`)" if name in NODES else f"()-[r:`{name}`]->()"
        found = int(engine.reader().rows(f"MATCH {pattern} RETURN count(*)")[0][0])
        if found != count:
            raise StoreError(f"{engine.path} has {found} of {name} instead of {count}; the store was left as it is")
