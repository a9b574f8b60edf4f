"""Several processes write one store at once."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from alma_graph.backends.bolt import feed
from tests.backends.bolt.conftest import Connect
from tests.servers.shared import ask

pytestmark = pytest.mark.engine

PROGRAM = """
import sys
from alma_graph import ALMA
uri, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with ALMA.open(uri, project_id="shop", embedder="hashing", extractor="none") as alma:
    for number in range(count):
        alma.learn(agent="dev", task=f"Deploy {who} {number}", outcome=number % 4 != 0, task_type="deploy",
                   strategy_used="Blue-green deployment", id=f"{who}-{number}")
    print(len(list(alma.memories(kind="outcome"))))
"""


KILLED_IN_ITS_TURN = """
import os, sys
from alma_graph.backends import open_backend
from alma_graph.errors import StoreChangedError
from alma_graph.testing.graphs import unit_of
store = open_backend(sys.argv[1])
try:
    store.write(unit_of("late"), expected=store.sequence() + 1)
except StoreChangedError:
    os._exit(9)
"""


def learn_in_two_processes(connect: Connect, location: str, count: int) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, location, who, str(count)], stdout=subprocess.PIPE)
        for who in ("a", "b")
    ]
    said = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert max(map(int, said)) == 2 * count
    alma = connect()
    assert {memory.id for memory in alma.memories(kind="outcome")} == {f"{w}-{n}" for w in "ab" for n in range(count)}
    (lesson,) = alma.memories(kind="heuristic")
    successes = 2 * sum(number % 4 != 0 for number in range(count))
    assert (lesson.success_count, lesson.occurrence_count) == (successes, 2 * count)  # type: ignore[attr-defined]
    assert alma.doctor().ok


def test_two_processes_that_open_a_fresh_database_at_once_lose_nothing(connect: Connect, location: str) -> None:
    learn_in_two_processes(connect, location, 20)


def test_a_writer_that_is_killed_in_its_turn_holds_others_up_for_its_turn_and_no_longer(
    connect: Connect, location: str
) -> None:
    alma = connect()
    alma.add_domain_knowledge(agent="dev", domain="d", fact="A first fact.", id="one")
    for number in range(2):
        killed = subprocess.run([sys.executable, "-c", KILLED_IN_ITS_TURN, location], check=False)
        assert killed.returncode == 9
        (turn,) = ask(location, "MATCH (m:Meta) RETURN m.turn_until AS until, m.turn_until - timestamp() AS rest")
        assert turn["rest"] <= feed.TURN_SECONDS * 1000
        began = time.monotonic()
        alma.add_domain_knowledge(agent="dev", domain="d", fact=f"Fact {number}.", id=f"next-{number}")
        assert ask(location, "RETURN timestamp() AS now")[0]["now"] >= turn["until"]
        assert time.monotonic() - began < feed.TURN_SECONDS + 3  # seconds for the write itself
    assert len(list(alma.memories())) == 3


@pytest.mark.slow
def test_two_processes_learn_two_hundred_each(connect: Connect, location: str) -> None:
    learn_in_two_processes(connect, location, 200)


@pytest.mark.slow
def test_eight_threads_of_two_handles_add_fifty_each(connect: Connect) -> None:
    handles = [connect(), connect(1)]
    failed: list[BaseException] = []

    def add(worker: int) -> None:
        try:
            for number in range(50):
                fact = f"Fact {number} of worker {worker}."
                handles[worker % 2].add_domain_knowledge(agent="dev", domain="d", fact=fact, id=f"{worker}-{number}")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=add, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    for alma in handles:
        assert len(list(alma.memories())) == 400
        assert alma.doctor().ok
