"""A command line to call in this process, and a filled store to ask."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from alma_graph import ALMA
from alma_graph.cli import cli


@dataclass(frozen=True)
class Answer:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout, which must be JSON and nothing else."""
        return json.loads(self.out)


def call(*arguments: str, stdin: str | bytes | None = None, **environment: str) -> Answer:
    """Runs a command line in this process."""
    runner = CliRunner(env={"ALMA_GRAPH_STORE": "", "ALMA_GRAPH_PROJECT": "", **environment})
    result = runner.invoke(cli, list(arguments), input=stdin, prog_name="alma-graph")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def store(tmp_path: Path, embedded_engine: str) -> str:
    """Where a fresh store may be made."""
    return f"{embedded_engine}:{tmp_path / 'fresh.graph'}"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, embedded_engine: str) -> str:
    """A store with lessons, a contradiction and a session, in project "shop"; tests only read it."""
    location = f"{embedded_engine}:{tmp_path_factory.mktemp('cli') / 'filled.graph'}"
    with ALMA.open(location, project_id="shop", embedder="hashing") as alma:
        for at, (strategy, outcome) in enumerate(
            [("Blue-green deployment", "success")] * 3 + [("Rebuild it all", "failure")] * 2
        ):
            alma.learn(
                agent="dev",
                task=f"Deploy the auth service 1.{at}",
                outcome=outcome,
                strategy_used=strategy,
                task_type="deploy",
                id=f"run-{at}",
            )
        alma.add_domain_knowledge(agent="dev", domain="auth", fact="The auth service listens on port 8080.", id="old")
        alma.add_domain_knowledge(agent="ops", domain="auth", fact="The auth service listens on port 9090.", id="new")
        alma.observe(
            agent="ops", text="The naïve café 東京 wrote \x1b[31mred\x1b[0m text.", session_id="chat", id="odd"
        )
        if not alma.contradictions():
            alma.relate("new", "CONTRADICTS", "old")
    return location
