"""How many threads the model may use."""

from __future__ import annotations

import os
from pathlib import Path

from alma_graph.errors import ConfigError

THREADS_VARIABLE = "ALMA_GRAPH_THREADS"
MOST_THREADS = 4
"""Beyond four threads a model of this size gains little and takes cores from the agent it serves."""


def thread_count() -> int:
    """`ALMA_GRAPH_THREADS`, else `OMP_NUM_THREADS`, else the physical cores this process may use, at most 4.

    Raises:
        ConfigError: `ALMA_GRAPH_THREADS` is no positive number.
    """
    named = os.environ.get(THREADS_VARIABLE)
    if named:
        if not named.isdecimal() or int(named) < 1:
            raise ConfigError(f"{THREADS_VARIABLE}={named!r} is no number of threads; give 1 or more")
        return int(named)
    shared = os.environ.get("OMP_NUM_THREADS", "")
    if shared.isdecimal() and int(shared) >= 1:
        return int(shared)
    return min(_physical_cores(), MOST_THREADS)


def _physical_cores() -> int:
    """Cores this process may run on; two hardware threads of one core count once where the system tells."""
    try:
        usable = sorted(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
    siblings = set()
    for cpu in usable:
        listing = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            siblings.add(listing.read_text(encoding="ascii").strip())
        except OSError:
            siblings.add(str(cpu))
    return max(len(siblings), 1)
