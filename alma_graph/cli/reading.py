"""Commands that read: `retrieve`, `contradictions`, `why`, `cypher`, `query`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from alma_graph.cli.options import (
    StoreChoice,
    json_option,
    json_or_text,
    key_values,
    with_store,
    words_or_stdin,
)
from alma_graph.cli.output import (
    clean,
    memory_line,
    note,
    note_unknown_project,
    path_line,
    print_cypher_table,
    print_json,
    print_table,
    say,
)

if TYPE_CHECKING:
    from alma_graph.alma import ALMA
    from alma_graph.results import Contradiction, Table
    from alma_graph.retrieval.slice import MemorySlice


@click.command("retrieve")
@with_store
@click.argument("task", nargs=-1, required=True)
@click.option("--agent", help="Read as this agent, by its scope; left out, the whole project is read.")
@click.option("--user", "user_id", help="Whose preferences come along.")
@click.option("-k", "--top-k", type=int, default=5, show_default=True, help="Hits in total.")
@click.option("--kind", "kinds", multiple=True, help="Only this kind; may be repeated.")
@click.option("--as-of", help="What was true at this time (ISO 8601).")
@click.option("--asked-at", help="The time that now means.")
@click.option("--since", help="Only what became true from then on.")
@click.option("--until", help="Only what became true up to then.")
@click.option("--include-superseded", is_flag=True, help="Also what is no longer current.")
@click.option("--token-budget", type=int, help="At most so many tokens of hits.")
@click.option("--explain", is_flag=True, help="Show the parts of each score and how the hit was found.")
@click.option("--prompt", is_flag=True, help="Print the text for an agent's prompt instead.")
@json_option
def retrieve_command(
    choice: StoreChoice,
    *,
    task: tuple[str, ...],
    kinds: tuple[str, ...],
    prompt: bool,
    explain: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Find the memories that fit TASK (- is stdin), best first."""
    words = words_or_stdin(task)
    with choice.open(create=False, read_only=True) as alma:
        found = alma.retrieve(words, kinds=kinds or None, explain=explain, **given)
        for warning in found.warnings:
            note(f"warning: {warning}")
        if not found.hits:
            note_unknown_project(alma.project_id, alma.projects())
        if as_json:
            print_json(found)
        elif prompt:
            say(found.to_prompt())
        else:
            print_hits(alma, found, explain=explain)


def print_hits(alma: ALMA, found: MemorySlice, *, explain: bool) -> None:
    """The hits as lines; with `explain`, the parts of the score and the path under each."""
    if not found.hits:
        say("nothing relevant")
    for rank, hit in enumerate(found.hits, 1):
        say(f"{rank}. {hit.score:.3f}  {memory_line(hit.memory)}")
        if hit.status == "contradicted":
            say(f"     contradicted by {', '.join(hit.contradicted_by)}")
        if explain:
            say("     score = " + " ".join(f"{part:+.3f} {name}" for name, part in hit.parts.items()))
            if hit.path:
                say("     path: " + path_line(hit.path, alma.get))
    for preference in found.standing:
        say(f"always: {memory_line(preference)}")


@click.command("contradictions")
@with_store
@click.option("--agent", help="Only those that a memory of this agent is part of.")
@click.option("--disposition", help="Only those settled like this: open, update, correction, conflict, ...")
@click.option("--suspected", is_flag=True, help="Also the weaker ones (score .5 to .7).")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many, the strongest first.")
@json_option
def contradictions_command(
    choice: StoreChoice,
    *,
    agent: str | None,
    disposition: str | None,
    suspected: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    """List what cannot both hold, the strongest first, with the words that show it."""
    with choice.open(create=False, read_only=True) as alma:
        found = alma.contradictions(agent=agent, disposition=disposition, suspected=suspected)[:limit]
        if as_json:
            print_json(found)
            return
        for item in found:
            print_contradiction(item)
        say(f"{len(found)} contradiction{'' if len(found) == 1 else 's'}")


def print_contradiction(item: Contradiction) -> None:
    """A contradiction with both sides and the words that show it."""
    doubt = ", suspected" if item.suspected else ""
    say(f"{item.signal} {item.score:.2f}, {item.disposition}{doubt}  ({item.id})")
    for side, memory in (("newer", item.newer), ("older", item.older)):
        say(f"  {side}: {memory_line(memory)}")
        spans = [repr(clean(span.text)) for span in item.evidence if span.memory_id == memory.id and span.text]
        if spans:
            say(f"         evidence: {', '.join(spans)}")


@click.command("why")
@with_store
@click.argument("memory_id")
@json_option
def why_command(choice: StoreChoice, *, memory_id: str, as_json: bool) -> None:
    """Explain why the store holds a memory: supports, contradictions, sources, history."""
    with choice.open(create=False, read_only=True) as alma:
        explanation = alma.why(memory_id)
        if as_json:
            print_json(explanation)
        else:
            say(explanation)


@click.command("cypher")
@with_store
@click.argument("statement", nargs=-1, required=True)
@click.option("-p", "--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter; JSON or text.")
@json_option
def cypher_command(
    choice: StoreChoice, *, statement: tuple[str, ...], parameters: tuple[str, ...], as_json: bool
) -> None:
    """Run one reading Cypher STATEMENT (- is stdin) over the whole store; $project_id is bound to the project."""
    words = words_or_stdin(statement)
    bound = {name: json_or_text(value) for name, value in key_values(parameters, "--param").items()}
    with choice.open(create=False, read_only=True) as alma:
        _print_table(alma.cypher(words, **bound), as_json)


@click.command("query")
@with_store
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1)
@click.option("-p", "--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the query.")
@json_option
def query_command(
    choice: StoreChoice, *, name: str | None, arguments: tuple[str, ...], parameters: tuple[str, ...], as_json: bool
) -> None:
    """Run the query NAME of the catalogue with its parameters (NAME=VALUE); without NAME, list the catalogue."""
    from alma_graph.queries import load_catalogue

    if name is None:
        _print_catalogue(as_json)
        return
    given = key_values((*arguments, *parameters), "the parameter")
    known = load_catalogue().get(name)
    if known is not None:
        known.bind(given)  # refuse bad parameters before a store is opened
    with choice.open(create=False, read_only=True) as alma:
        _print_table(alma.queries[name](**given), as_json)


def _print_table(table: Table, as_json: bool) -> None:
    if as_json:
        print_json(list(table))
    else:
        print_cypher_table(table)


def _print_catalogue(as_json: bool) -> None:
    from alma_graph.queries import load_catalogue

    queries = load_catalogue().values()
    if as_json:
        print_json(
            [
                {
                    "name": query.name,
                    "description": query.description,
                    "parameters": [str(parameter) for parameter in query.parameters],
                    "returns": query.returns,
                }
                for query in queries
            ]
        )
        return
    rows = [(query.name, query.description, ", ".join(map(str, query.parameters))) for query in queries]
    print_table(("query", "what it shows", "parameters"), rows)
