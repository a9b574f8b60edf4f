"""Settings: the cache's, and everything `ALMA.open` takes read from a YAML file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from alma_graph import arguments
from alma_graph.errors import ConfigError, InvalidInputError, shown
from alma_graph.model import MemoryScope, Model, Text, Texts
from alma_graph.retrieval.scoring import ScoringConfig
from alma_graph.text import checked_name

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class CacheConfig(Model):
    """What is kept in memory between calls.

    Attributes:
        enabled: off means that every retrieval is computed anew.
        max_size: answers, and embeddings of queries, that are kept; the least recently used go first.
        ttl_seconds: an answer is given again for that long, as long as nothing was written in between.
        embedding_cache: whether embeddings of queries are kept.
    """

    enabled: bool = True
    max_size: Annotated[int, Field(ge=1)] = 1000
    ttl_seconds: Annotated[float, Field(gt=0)] = 300.0
    embedding_cache: bool = True


class AgentConfig(Model):
    """One agent's scope, as it stands in a configuration file (its name is the key)."""

    can_learn: Texts = ()
    cannot_learn: Texts = ()
    min_occurrences_for_heuristic: Annotated[int, Field(ge=1)] = 3
    inherit_from: Texts = ()
    share_with: Texts = ()

    def scope(self, name: str) -> MemoryScope:
        """The scope of the agent with this name."""
        return MemoryScope(agent_name=name, **self.model_dump())


class Config(Model):
    """A whole configuration file; the keys are `ALMA.open`'s, with `store` for its location and `agents` for scopes."""

    project_id: Text
    store: Text = ".alma/agent.graph"
    embedder: Text | None = None
    extractor: Text = "spacy"
    read_only: bool = False
    create: bool = True
    lock_timeout: Annotated[float, Field(ge=0)] = 5.0
    username: Text | None = None
    password: Text | None = None
    database: Text | None = None
    scoring: ScoringConfig | None = None
    cache: CacheConfig | None = None
    agents: dict[str, AgentConfig] = Field(default_factory=dict)


def scopes_by_agent(scopes: Iterable[MemoryScope] | None) -> dict[str, MemoryScope]:
    """The scopes under their agents' names; None is none.

    Raises:
        InvalidInputError: not a list, something in it that is no scope, or two scopes of one agent.
    """
    if isinstance(scopes, MemoryScope):
        raise InvalidInputError("scopes is one MemoryScope; give a list of them: scopes=[MemoryScope(...)]")
    found: dict[str, MemoryScope] = {}
    for at, scope in enumerate(arguments.listed(() if scopes is None else scopes, "scopes", of="MemoryScope(...)")):
        name = arguments.instance(scope, MemoryScope, f"scopes[{at}]").agent_name
        if name in found:
            raise InvalidInputError(f"scopes[{at}] is a second one for agent {name!r}; give one for each agent")
        found[name] = scope
    return found


def check_settings(
    project_id: object, scoring: object, cache: object, clock: object, *, read_only: object, create: object
) -> None:
    """Refuses what `ALMA.open` cannot take, before a file is looked at.

    Raises:
        InvalidInputError: names the setting and the cure.
    """
    checked_name(project_id, "project_id")
    for name, given, cls in (("scoring", scoring, ScoringConfig), ("cache", cache, CacheConfig)):
        if given is not None:
            arguments.instance(given, cls, name)
    for name, switch in (("read_only", read_only), ("create", create)):
        arguments.flag(switch, name)
    if clock is None:
        raise InvalidInputError("clock=None tells no time; leave it out for the system's clock")
    arguments.callable_or_none(clock, "clock", signature="() -> datetime")


def expand(value: Any, where: str = "") -> Any:
    """`${NAME}` in every text replaced by the environment's variable.

    Raises:
        ConfigError: the variable is not set; the message names it and the key.
    """
    if isinstance(value, str):

        def read(match: re.Match[str]) -> str:
            name = match.group(1)
            if name not in os.environ:
                raise ConfigError(f"{where or 'configuration'}: the environment variable {name} is not set; export it")
            return os.environ[name]

        return _VARIABLE.sub(read, value)
    if isinstance(value, dict):
        return {key: expand(item, f"{where}.{key}" if where else str(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item, f"{where}[{at}]") for at, item in enumerate(value)]
    return value


def load_config(path: str | os.PathLike[str], **changes: Any) -> Config:
    """Reads a YAML file; the settings stand at the top or under the one key `alma`. A relative `store` is taken from
    the working directory. `changes` are settings that go before the file's.

    Raises:
        ConfigError: no such file, no YAML, an unknown key, a bad value, or a variable that is not set.
    """
    import yaml

    place = arguments.path_text(path, "path")
    try:
        raw = yaml.safe_load(Path(place).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"the configuration {shown(place)} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ConfigError(f"the configuration {shown(place)} is no YAML: {error}") from error
    if isinstance(raw, dict) and set(raw) == {"alma"}:
        raw = raw["alma"]
    if not isinstance(raw, dict) or not all(isinstance(key, str) for key in raw):
        raise ConfigError(f"the configuration {shown(place)} must be a mapping of settings, with project_id at least")
    try:
        return Config(**{**expand(raw), **changes})
    except RecursionError:
        raise ConfigError(f"the configuration {shown(place)} is nested too deep, or contains itself") from None
    except ConfigError:
        raise
    except InvalidInputError as error:
        raise ConfigError(f"{shown(place)}: {error}") from None
