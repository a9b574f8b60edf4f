"""The choice of candidates is pure, bounded and deterministic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alma_graph.beliefs import DEFAULT_LIMIT, LONG_TEXT_LIMIT, limit_for, select
from alma_graph.errors import InvalidInputError

ROWS = st.lists(
    st.tuples(st.text(min_size=1, max_size=4), st.floats(-1, 1), st.integers(0, 5)), unique_by=lambda row: row[0]
)


def test_near_ones_with_shared_entities_come_first_and_ties_go_to_the_smaller_id() -> None:
    chosen = select(["d", "b", "a", "c"], np.array([0.5, 0.5, 0.4, 0.9]), np.array([0, 0, 2, 0]), limit=3)
    assert chosen == ["c", "a", "b"]


@given(rows=ROWS, limit=st.integers(0, 6), seed=st.randoms())
def test_the_order_of_the_input_does_not_matter(rows: list[tuple[str, float, int]], limit: int, seed: object) -> None:
    mixed = sorted(rows, key=lambda row: (row[2], row[0]))

    def chosen(order: list[tuple[str, float, int]]) -> list[str]:
        return select([row[0] for row in order], [row[1] for row in order], [row[2] for row in order], limit)

    assert chosen(rows) == chosen(mixed)
    assert len(chosen(rows)) == min(limit, len(rows))
    assert (
        chosen(rows)
        == select([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], limit + 1)[
            : len(chosen(rows))
        ]
    )


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="as many cosines"):
        select(["a"], [0.1, 0.2], [0, 0])
    with pytest.raises(InvalidInputError, match="NaN"):
        select(["a"], [float("nan")], [0])
    with pytest.raises(InvalidInputError, match="limit"):
        select(["a"], [0.1], [0], limit=-1)
    with pytest.raises(InvalidInputError, match="twice"):
        select(["a", "a"], [0.1, 0.2], [0, 0])


def test_long_texts_get_fewer_candidates() -> None:
    assert limit_for("short") == DEFAULT_LIMIT
    assert limit_for("word " * 200) == LONG_TEXT_LIMIT
