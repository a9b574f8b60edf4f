"""A store's content as plain JSON lines, even where this version cannot open the store."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

from alma_graph.arguments import path_text
from alma_graph.backends.embedded.raw import raw_rows
from alma_graph.backends.registry import file_of
from alma_graph.errors import InvalidInputError, UnsupportedError
from alma_graph.transfer.files import STREAM, writing


def raw_export(
    location: str | os.PathLike[str], file: str, *, lock_timeout: float = 5.0, unread: Callable[[str], None]
) -> int:
    """Writes every node and edge of an embedded store as the engine has it, one JSON object a line; how many.

    It works on a store of a newer schema too. It is for eyes and scripts: `import` reads what `export` writes.
    Of a damaged store it writes what can be read; a row of which something is missing names that in `unread`.

    Args:
        location: where the store is.
        file: the new file, which is there when it is complete, or not at all; "-" is stdout.
        lock_timeout: seconds to wait for another process.
        unread: takes a line about each row or table that cannot be read.

    Raises:
        InvalidInputError: no store is there, or the file exists, or none can be made there.
        StoreError: there is no room for the file; nothing is left of it.
        UnsupportedError: the store is no file.
    """
    place = path_text(location, "location")
    path = file_of(place)
    if path is None:
        raise UnsupportedError(f"{place} is no file; a raw export is of embedded stores (ladybug:PATH, kuzu:PATH)")
    engine = place.partition(":")[0] if path != place else None
    rows = raw_rows(path, engine, lock_timeout=lock_timeout, unread=unread)
    first = next(rows, None)  # a store that cannot be opened leaves no file behind
    count = 0
    try:
        _refuse_existing(file)
        with writing(file) as stream:
            while first is not None:
                line = json.dumps(first, ensure_ascii=False, default=_plain)
                stream.write(line.encode("utf-8", "surrogatepass") + b"\n")
                count += 1
                first = next(rows, None)
            _refuse_existing(file)
    finally:
        rows.close()
    return count


def _refuse_existing(file: str) -> None:
    if file != STREAM and os.path.lexists(Path(path_text(file, "file")).expanduser()):
        raise InvalidInputError(f"{file!r} is there already, and a raw export replaces nothing; give another name")


def _plain(value: Any) -> Any:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    return str(value)
