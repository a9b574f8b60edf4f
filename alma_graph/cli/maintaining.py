"""Commands about a store as a whole: `reembed`, `backup`, `migrate`."""

from __future__ import annotations

import click

from alma_graph.cli.options import json_option
from alma_graph.cli.output import Progress, print_json, say

_timeout = click.option(
    "--lock-timeout", type=click.FloatRange(0), default=5.0, help="Seconds to wait for another process; 5."
)


@click.command("reembed")
@click.argument("location", metavar="STORE")
@click.option("--embedder", metavar="NAME", required=True, help="all-MiniLM-L6-v2, hashing:DIMENSION, ...")
@_timeout
@json_option
def reembed_command(*, location: str, embedder: str, lock_timeout: float, as_json: bool) -> None:
    """Give every memory of every project of STORE vectors of another embedder.

    The store answers with the old vectors until the end. Interrupted, it has them still, and the same command goes on
    where it was stopped.
    """
    from alma_graph.maintenance import reembed

    progress = Progress("reembed")
    done = reembed(
        location, embedder, lambda at, total: progress.tell(f"{at} of {total} memories"), lock_timeout=lock_timeout
    )
    progress.done(f"{done.memories} memories")
    if as_json:
        print_json(done)
        return
    say(
        f"{done.memories} memories have vectors of {done.embedder} (dimension {done.dimension}); "
        f"{done.encoded} of {done.texts} texts were encoded now"
    )


@click.command("backup")
@click.argument("location", metavar="STORE")
@click.argument("file", metavar="FILE")
@_timeout
@json_option
def backup_command(*, location: str, file: str, lock_timeout: float, as_json: bool) -> None:
    """Copy STORE into the new FILE, and open the copy once to see that it holds the same.

    A Ladybug store may be written by another process meanwhile. FILE is a store like any other; an existing file is
    never replaced.
    """
    from alma_graph.maintenance import backup

    done = backup(location, file, lock_timeout=lock_timeout)
    if as_json:
        print_json(done)
    else:
        say(f"wrote {done.path} ({done.bytes} bytes)")


@click.command("migrate")
@click.argument("location", metavar="STORE")
@_timeout
@json_option
def migrate_command(*, location: str, lock_timeout: float, as_json: bool) -> None:
    """Bring STORE, made by an older version, to the present schema, after a backup beside it.

    Opening a store for writing does the same. A store that is up to date is left as it is.
    """
    from alma_graph.maintenance import migrate

    done = migrate(location, lock_timeout=lock_timeout)
    if as_json:
        print_json(done)
    elif not done.steps:
        say(f"{location} has schema version {done.now} already; nothing was to be done")
    else:
        for step in done.steps:
            say(f"done: {step}")
        say(f"schema version {done.found} -> {done.now}; the store as it was: {done.backup or 'no copy was made'}")
