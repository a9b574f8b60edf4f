"""Export, import and export again: the same bytes, on every engine, whatever the texts are."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alma_graph.backends import Backend, EdgeRow, UnitOfWork, node_key, open_backend
from alma_graph.errors import InvalidInputError, StoreChangedError, StoreVersionError
from alma_graph.store import Store, open_store
from alma_graph.testing.graphs import DIMENSION, START, dump, entity_row, memory_row, supports
from alma_graph.transfer import export_backend, export_file, import_file
from alma_graph.transfer.lines import edge_line, node_line, parse_line, read_edge, read_node
from tests.conftest import store_location

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip) | st.sampled_from(
    [
        "\"quoted\" 'twice'",
        "a\\b\\",
        "`MATCH (n) DETACH DELETE n`",
        "a\nb\r\nc\td",
        "a\u2028\u2029\x85z",
        "nul\x00",
        "😀 東京 ؏",
        "}{",
    ]
)
TIMES = st.integers(0, 4 * 10**15).map(lambda micros: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros))
MEMORIES = st.dictionaries(
    TEXTS,
    st.fixed_dictionaries(
        {"text": TEXTS},
        optional={
            "use_count": st.none() | st.integers(0, 2**62),
            "confidence": st.none() | st.floats(0, 1),
            "valid_from": st.none() | TIMES,
            "retired_reason": st.none() | TEXTS,
            "token_embeddings": st.none() | st.binary(max_size=40),
            "metadata": TEXTS.map(lambda text: json.dumps({text: text})),
            "embedding": st.lists(st.floats(-1, 1, width=32), min_size=DIMENSION, max_size=DIMENSION)
            .filter(any)
            .map(lambda values: np.array(values, dtype=np.float32)),
        },
    ),
    max_size=5,
)


def outcome_row(identifier: str, **changes: Any) -> Any:
    """A memory whose row can be read as a model."""
    return memory_row(
        identifier,
        kind="domain_knowledge",
        data='{"domain":"d","source":"user_stated"}',
        agent=None,
        use_count=0,
        **changes,
    )


def fill(store: Backend, memories: dict[str, dict[str, Any]]) -> None:
    work = UnitOfWork()
    for name, changes in memories.items():
        work.add_node("Memory", {**outcome_row(name), **changes})
        work.merge_node("Entity", entity_row(name))
        places = {"start_char": 0, "end_char": 1, "surface": name, "type": "x"}
        for start in (0, 3, 3):  # parallel edges, two of them equal
            work.edges.append(
                EdgeRow("MENTIONS", node_key("shop", name), node_key("shop", name), {**places, "start_char": start})
            )
    names = list(memories)
    for one, other in pairwise(names):
        work.edges.append(supports(one, other))
    if work:
        store.write(work)


def exported(store: Backend, **options: Any) -> bytes:
    stream = io.BytesIO()
    export_backend(store, stream, **options)
    return stream.getvalue()


def as_store(location: str) -> Store:
    from alma_graph.clock import system_clock
    from alma_graph.extraction import create_extractor

    return open_store(
        location,
        embedder=f"hashing:{DIMENSION}",
        extractor=create_extractor("none"),
        clock=system_clock,
        read_only=False,
        create=True,
        lock_timeout=5.0,
        connection={},
    )


@pytest.mark.engine
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(memories=MEMORIES)
def test_export_import_export_gives_the_same_bytes(embedded_engine: str, memories: dict[str, dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stores = [
            as_store(location) for location in (":memory:", store_location(Path(folder), embedded_engine), ":memory:")
        ]
        try:
            fill(stores[0].backend, memories)
            file = Path(folder) / "graph.jsonl"
            bodies = []
            for here, there in zip(stores, [*stores[1:], None], strict=True):
                export_file(here.backend, file)
                bodies.append(file.read_bytes().partition(b"\n")[2])
                assert all(line.endswith(b"}\n") for line in file.read_bytes().splitlines(keepends=True))
                assert len(file.read_text(encoding="utf-8").splitlines()) == bodies[0].count(b"\n") + 1
                if there is not None:
                    import_file(file, there)
            assert bodies[0] == bodies[1] == bodies[2]
            kept = [dump(store.backend) for store in stores]
            assert kept[0]["nodes"] == kept[1]["nodes"] == kept[2]["nodes"]
            assert kept[0]["edges"] == kept[1]["edges"] == kept[2]["edges"]
        finally:
            for store in stores:
                store.release()


@given(memories=MEMORIES)
@settings(max_examples=50, deadline=None)
def test_a_line_comes_back_as_the_row_that_it_was(memories: dict[str, dict[str, Any]]) -> None:
    store = open_backend(":memory:")
    store.initialise(dimension=DIMENSION, embedder="test", embedder_revision=None, created_with="tests")
    fill(store, memories)
    for row in store.nodes("Memory"):
        label, again = read_node(parse_line(node_line("Memory", row)), DIMENSION)
        assert label == "Memory"
        assert again.pop("embedding").tobytes() == row.pop("embedding").tobytes()
        assert again == row
    for edge in store.edges("MENTIONS"):
        assert read_edge(parse_line(edge_line(edge)), DIMENSION) == edge


def test_only_the_header_names_the_engine(backend: Backend, tmp_path: Path) -> None:
    oracle = open_backend(":memory:")
    oracle.initialise(dimension=DIMENSION, embedder="test", embedder_revision=None, created_with="others")
    for store in (backend, oracle):
        fill(store, {"m1": {"text": "one"}, "m2": {"text": "two"}})
    ours, theirs = exported(backend).splitlines(), exported(oracle).splitlines()
    assert ours[1:] == theirs[1:]
    headers = [json.loads(lines[0]) for lines in (ours, theirs)]
    assert backend.name in headers[0].pop("created_with")
    assert "memory" in headers[1].pop("created_with")
    assert headers[0] == headers[1]


def test_a_compressed_export_holds_the_same_and_is_the_same_each_time(backend: Backend, tmp_path: Path) -> None:
    fill(backend, {"m1": {"text": "one"}})
    plain = export_file(backend, tmp_path / "a.jsonl")
    zipped = export_file(backend, tmp_path / "a.jsonl.gz")
    first = (tmp_path / "a.jsonl.gz").read_bytes()
    assert gzip.decompress(first) == (tmp_path / "a.jsonl").read_bytes()
    assert plain.sha256 == zipped.sha256
    export_file(backend, tmp_path / "a.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == first
    assert {file.name for file in tmp_path.iterdir() if "export" in file.name} == set()


def test_an_export_that_fails_leaves_the_file_as_it_was(backend: Backend, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("mine")
    fill(backend, {"m1": {"text": "one"}})

    def stop(done: int, total: int) -> None:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        export_file(backend, file, progress=stop)
    assert file.read_text() == "mine"
    assert [name.name for name in tmp_path.iterdir() if name.name.startswith(".export")] == []


def test_an_export_during_writes_starts_again_and_is_one_graph(backend: Backend, tmp_path: Path) -> None:
    fill(backend, {"m1": {"text": "one"}})
    written: list[bool] = []

    def write_once(done: int, total: int) -> None:
        if not written:
            written.append(True)
            fill(backend, {"m2": {"text": "two"}, "m3": {"text": "three"}})

    made = export_file(backend, tmp_path / "a.jsonl", progress=write_once)
    assert made.nodes["Memory"] == 3
    assert made.sha256 == export_file(backend, tmp_path / "b.jsonl").sha256
    names = iter(range(1000))
    with pytest.raises(StoreChangedError, match="3 exports"):
        export_file(
            backend, tmp_path / "c.jsonl", progress=lambda *_: fill(backend, {f"x{next(names)}": {"text": "x"}})
        )
    assert not (tmp_path / "c.jsonl").exists()


def test_one_project_is_exported_alone(backend: Backend, tmp_path: Path) -> None:
    fill(backend, {"m1": {"text": "one"}})
    other = {**outcome_row("m9"), "key": node_key("other", "m9"), "project_id": "other"}
    project = {"key": node_key("other", ""), "project_id": "other", "created_at": START}
    backend.write(UnitOfWork(nodes={"Memory": [other], "Project": [project]}))
    made = export_file(backend, tmp_path / "a.jsonl", project_id="other")
    assert made.nodes == {"Memory": 1, "Project": 1}
    assert made.edges == {}
    with pytest.raises(InvalidInputError, match="no such project"):
        export_file(backend, tmp_path / "b.jsonl", project_id="nobody")


@pytest.mark.parametrize(
    ("name", "found", "words"),
    [("alma_graph_export", 7, "format version 7.*up to 1"), ("schema_version", 99, "schema version 99.*up to")],
)
def test_a_newer_file_is_refused_with_both_versions(
    backend: Backend, tmp_path: Path, name: str, found: int, words: str
) -> None:
    file = tmp_path / "a.jsonl"
    export_file(backend, file)
    header, _, rest = file.read_bytes().partition(b"\n")
    file.write_bytes(json.dumps({**json.loads(header), name: found}).encode() + b"\n" + rest)
    with pytest.raises(StoreVersionError, match=words) as caught:
        import_file(file, as_store(":memory:"))
    assert caught.value.found == found
    assert caught.value.supported < found
