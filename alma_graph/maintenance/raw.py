"""A store's content as plain JSON lines, even where this version cannot open the store."""

from __future__ import annotations

import base64
import json
import os
import sys
from contextlib import nullcontext, suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any

from alma_graph.arguments import path_text
from alma_graph.backends.embedded.raw import raw_rows
from alma_graph.backends.registry import file_of
from alma_graph.errors import InvalidInputError, UnsupportedError


def raw_export(location: str | os.PathLike[str], file: str, *, lock_timeout: float = 5.0) -> int:
    """Writes every node and edge of an embedded store as the engine has it, one JSON object a line; how many.

    It works on a store of a newer schema too. It is for eyes and scripts: `import` reads what `export` writes.

    Args:
        location: where the store is.
        file: the new file; "-" is stdout.
        lock_timeout: seconds to wait for another process.

    Raises:
        InvalidInputError: no store is there, or the file exists or cannot be written.
        UnsupportedError: the store is no file.
    """
    place = path_text(location, "location")
    path = file_of(place)
    if path is None:
        raise UnsupportedError(f"{place} is no file; a raw export is of embedded stores (ladybug:PATH, kuzu:PATH)")
    engine = place.partition(":")[0] if path != place else None
    rows = raw_rows(path, engine, lock_timeout=lock_timeout)
    first = next(rows, None)  # a store that cannot be opened leaves no file behind
    target = None if file == "-" else Path(path_text(file, "file")).expanduser()
    count = 0
    try:
        with nullcontext(sys.stdout) if target is None else target.open("x", encoding="utf-8") as stream:
            while first is not None:
                print(json.dumps(first, ensure_ascii=False, default=_plain), file=stream)
                count += 1
                first = next(rows, None)
    except OSError as error:
        raise InvalidInputError(f"{file!r} cannot be written ({error.strerror}); give another name") from error
    except BaseException:
        if target is not None:
            with suppress(OSError):
                target.unlink()
        raise
    finally:
        rows.close()
    return count


def _plain(value: Any) -> Any:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    return str(value)
