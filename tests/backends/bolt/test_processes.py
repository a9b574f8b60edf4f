"""Several processes write one store at once."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tests.backends.bolt.conftest import Connect

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
