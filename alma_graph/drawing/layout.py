"""Where the nodes go: the same graph always gets the same places, and no two boxes overlap.

Each connected part is laid out by stress majorisation (Gansner, Koren and North 2004, "Graph drawing by stress
majorization") from a classical scaling of its shortest paths, then boxes are pushed apart; the parts are packed into
one frame, and nodes without edges stand in rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_STRETCH = 1.55  # boxes are wider than high, so the plane is laid out narrower and stretched at the end
_GAP = 22.0  # shortest free piece of an edge, in pixels
_MARGIN = np.array([20.0, 15.0])  # free space between two boxes, in pixels
_PART_GAP = 28.0
_TURNED_UP_TO = 60  # boxes of a part for which every turn is tried
_SWEEPS = 120
_PUSHES = 250
_CROWDED = 0.42  # share of the frame that boxes may cover before they are pushed apart


@dataclass(frozen=True, slots=True)
class Spring:
    """An edge to lay out: the indices of its ends, and the width and height of the label it carries, if any."""

    source: int
    target: int
    label: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """Centres in pixels, in a frame that begins at (0, 0): (n, 2) of the boxes, and (m, 2) of the labels of the springs
    that have one, in their order."""

    boxes: Array
    labels: Array


def place(sizes: Array, springs: Sequence[Spring], *, aspect: float = 1.5) -> Placement:
    """Finds a place for every box and label.

    Args:
        sizes: (n, 2), width and height of each box in pixels.
        springs: the edges, by index of box.
        aspect: wanted width over height of the whole.
    """
    count = len(sizes)
    labelled = [at for at, spring in enumerate(springs) if spring.label is not None]
    centres = np.zeros((count + len(labelled), 2))
    if count == 0:
        return Placement(centres, centres)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    everything = np.vstack([sizes, *(np.array([springs[at].label]) for at in labelled)])
    ends = np.array([(spring.source, spring.target) for spring in springs], dtype=np.int64).reshape(-1, 2)
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    _, part_of = connected_components(matrix, directed=False)
    members: dict[int, list[int]] = {}
    for node, part in enumerate(part_of.tolist()):
        members.setdefault(part, []).append(node)
    springs_of: dict[int, list[int]] = {}
    for at, spring in enumerate(springs):
        springs_of.setdefault(int(part_of[spring.source]), []).append(at)
    label_at = {at: count + number for number, at in enumerate(labelled)}

    singles = [nodes[0] for part, nodes in members.items() if len(nodes) == 1 and part not in springs_of]
    blocks: list[tuple[list[int], Array]] = []
    for part, nodes in members.items():
        if part in springs_of:
            inner = {node: at for at, node in enumerate(nodes)}
            chosen = springs_of[part]
            own = [Spring(inner[springs[at].source], inner[springs[at].target], springs[at].label) for at in chosen]
            blocks.append((nodes + [label_at[at] for at in chosen if at in label_at], _part(sizes[nodes], own, aspect)))
    if singles:
        blocks.append((singles, _rows(sizes[singles], aspect if not blocks else 3.0)))

    frames = []
    for nodes, local in blocks:
        low = (local - everything[nodes] / 2).min(axis=0)
        frames.append((local + everything[nodes] / 2).max(axis=0) - low)
        centres[nodes] = local - low
    for (nodes, _), corner in zip(blocks, _packed(frames, aspect), strict=True):
        centres[nodes] += corner
    return Placement(centres[:count], centres[count:])


def _part(sizes: Array, springs: Sequence[Spring], aspect: float) -> Array:
    """Places of the boxes of one connected part, followed by those of its labels."""
    distances = _distances(sizes, springs)
    flat = _levelled(_majorised(_scaled(distances), distances))
    labels = [spring for spring in springs if spring.label is not None]
    everything = np.vstack([sizes, *(np.array([spring.label]) for spring in labels)])
    ends = np.array([(spring.source, spring.target) for spring in labels], dtype=np.int64).reshape(-1, 2)
    # Boxes are wide, so a chain takes less room downwards than across: the turn that fills least of the page is taken.
    turns = range(0, 180, 30) if len(sizes) <= _TURNED_UP_TO else (0,)
    best: tuple[float, Array] | None = None
    for turn in turns:
        cosine, sine = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        points = flat @ np.array([[cosine, sine], [-sine, cosine]]) * (_STRETCH, 1.0)
        points = _apart(points, everything, ends)
        width, height = (points + everything / 2).max(axis=0) - (points - everything / 2).min(axis=0)
        room = float(max(width, height * aspect) ** 2 + 2.0 * aspect * width * height)
        if best is None or room < 0.97 * best[0]:
            best = room, points
    assert best is not None
    return best[1]


def _distances(sizes: Array, springs: Sequence[Spring]) -> Array:
    """Shortest paths, an edge being as long as its boxes, its label and its busier end need."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    count = len(sizes)
    radius = np.hypot(sizes[:, 0] / _STRETCH, sizes[:, 1]) / 2
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for spring in springs:
        neighbours[spring.source].add(spring.target)
        neighbours[spring.target].add(spring.source)
    lengths: dict[tuple[int, int], float] = {}
    for spring in springs:
        if spring.source == spring.target:
            continue
        pair = (min(spring.source, spring.target), max(spring.source, spring.target))
        busier = max(len(neighbours[spring.source]), len(neighbours[spring.target]))
        length = _GAP + 0.7 * float(radius[pair[0]] + radius[pair[1]]) + 5.0 * busier**0.5
        if spring.label is not None:
            length += 0.9 * float(np.hypot(spring.label[0] / _STRETCH, spring.label[1]))
        lengths[pair] = max(length, lengths.get(pair, 0.0))
    ends = np.array(list(lengths), dtype=np.int64).reshape(-1, 2)
    matrix = coo_array((np.array(list(lengths.values())), (ends[:, 0], ends[:, 1])), shape=(count, count))
    result: Array = dijkstra(matrix.tocsr(), directed=False)
    return result


def _scaled(distances: Array) -> Array:
    """Classical scaling to two dimensions, with a small fixed scatter so that equal rows do not fall on one point."""
    count = len(distances)
    squares = distances**2
    inner = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    values, vectors = np.linalg.eigh(inner)
    points = np.zeros((count, 2))
    for axis in range(min(2, count)):
        column = vectors[:, -1 - axis]
        sign = 1.0 if column[np.argmax(np.abs(column))] >= 0 else -1.0
        points[:, axis] = column * sign * max(float(values[-1 - axis]), 0.0) ** 0.5
    scatter = np.random.default_rng(7).normal(size=(count, 2))
    return points + scatter * 0.08 * float(distances.mean())


def _majorised(points: Array, distances: Array) -> Array:
    from scipy.spatial.distance import cdist

    count = len(points)
    apart = distances + np.eye(count)
    weights = apart**-2.0
    np.fill_diagonal(weights, 0.0)
    pull = weights * distances
    inverse = np.linalg.inv(np.diag(weights.sum(axis=1)) - weights + 1.0 / count) - 1.0 / count
    before = np.inf
    for _ in range(_SWEEPS):
        apart = cdist(points, points)
        stress = float(np.einsum("ij,ij,ij->", weights, apart - distances, apart - distances))
        if before - stress <= 5e-4 * stress:
            break
        before = stress
        ratio = -pull / np.maximum(apart, 1e-9)
        np.fill_diagonal(ratio, -ratio.sum(axis=1))
        points = inverse @ (ratio @ points)
    return points


def _levelled(points: Array) -> Array:
    """The same picture turned so that it is widest from left to right, and its first node lies left and above."""
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned: Array = centred @ axes.T
    if turned.shape[1] < 2:
        turned = np.column_stack([turned, np.zeros(len(turned))])
    for axis in (0, 1):
        heavy = turned[np.argmax(np.abs(turned[:, axis])), axis]
        if heavy > 0:
            turned[:, axis] *= -1
    return turned


def _apart(points: Array, sizes: Array, ends: NDArray[np.int64]) -> Array:
    """Moves boxes, each as little as it can, until none comes nearer to another than the margin.

    The last `len(ends)` sizes are labels, which begin in the middle between their two ends and keep near it.
    """
    from scipy.spatial import KDTree

    boxes = len(points)
    need = sizes + _MARGIN
    need[boxes:] = sizes[boxes:] + _MARGIN / 2
    span = (points + need[:boxes] / 2).max(axis=0) - (points - need[:boxes] / 2).min(axis=0)
    crowded = float(need.prod(axis=1).sum()) / float(span.prod())
    if crowded > _CROWDED:
        points = points * (crowded / _CROWDED) ** 0.5
    points = np.vstack([points, points[ends].mean(axis=1)])
    reach = need.max(axis=0)
    while True:
        for push in range(_PUSHES):
            pairs = KDTree(points / reach).query_pairs(1.0, p=np.inf, output_type="ndarray")
            first, second = pairs[:, 0], pairs[:, 1]
            gap = points[first] - points[second]
            over = (need[first] + need[second]) / 2 - np.abs(gap)
            hit = (over > 0.01).all(axis=1)
            if not hit.any():
                return points
            first, second, gap, over = first[hit], second[hit], gap[hit], over[hit]
            sideways = over[:, 0] < 1.3 * over[:, 1]
            move = np.where(gap >= 0, over + 0.5, -over - 0.5) * np.column_stack([sideways, ~sideways]) * 0.5
            np.add.at(points, first, move)
            np.add.at(points, second, -move)
            if push < _PUSHES // 2:
                points[boxes:] += 0.3 * (points[ends].mean(axis=1) - points[boxes:])
        points = points * 1.2


def _rows(sizes: Array, aspect: float) -> Array:
    """Boxes in their order, in rows."""
    need = sizes + _MARGIN
    room = max(float(need[:, 0].max()), (float(need.prod(axis=1).sum()) * aspect) ** 0.5)
    points = np.zeros_like(sizes)
    left = top = height = 0.0
    for at, (width, tall) in enumerate(need.tolist()):
        if left > 0 and left + width > room:
            left, top, height = 0.0, top + height, 0.0
        points[at] = left + width / 2, top + tall / 2
        left += width
        height = max(height, tall)
    return points


def _packed(frames: Sequence[Any], aspect: float) -> list[Array]:
    """Upper left corners of frames put side by side, the largest first, within a whole of about `aspect`."""
    order = sorted(range(len(frames)), key=lambda at: (-float(frames[at][0] * frames[at][1]), at))
    low = np.zeros((len(frames), 2))
    high = np.zeros((len(frames), 2))
    extent = np.zeros(2)
    spots = {(0.0, 0.0)}
    corners: dict[int, Array] = {}
    for placed, at in enumerate(order):
        width, height = (float(side) + _PART_GAP for side in frames[at])
        best = (np.inf, np.inf, np.inf)
        for left, top in sorted(spots):
            right, bottom = max(left + width, float(extent[0])), max(top + height, float(extent[1]))
            score = (max(right, bottom * aspect), top, left)
            if score < best:
                clear = (low[:placed] >= (left + width, top + height)) | (high[:placed] <= (left, top))
                if clear.any(axis=1).all():
                    best = score
        _, top, left = best
        low[placed] = left, top
        high[placed] = left + width, top + height
        extent = np.maximum(extent, high[placed])
        spots.discard((left, top))
        spots |= {(left + width, top), (left, top + height), (left + width, 0.0), (0.0, top + height)}
        corners[at] = low[placed]
    return [corners[at] for at in range(len(frames))]
