"""The files of an export: plain or gzip by name, written beside their place and moved there, `-` for the streams."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, cast

from alma_graph.arguments import path_text
from alma_graph.backends.embedded.durable import sync_folder
from alma_graph.errors import InvalidInputError, StoreError, shown

STREAM = "-"
"""stdout to an export, stdin to an import."""

_GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A new seekable stream whose bytes are at `path` once the block has ended well; until then nothing is there.

    A name that ends in `.gz` is compressed, without a time or a name, so that equal graphs give equal files.

    Raises:
        InvalidInputError: no file can be made there.
        StoreError: there is no room, or it cannot take the name.
    """
    place = path_text(path, "path")
    target = None if place == STREAM else Path(place).expanduser()
    if target is not None and (target.is_dir() or not target.parent.is_dir()):
        raise InvalidInputError(f"path={shown(place)}: no file can be made there; name a file in a folder that exists")
    try:
        descriptor, name = tempfile.mkstemp(
            prefix=".export-", suffix=".part", dir=None if target is None else target.parent
        )
    except OSError as error:
        raise InvalidInputError(f"path={shown(place)} cannot be written ({error.strerror}); name another") from None
    try:
        with os.fdopen(descriptor, "w+b") as stream:
            yield stream
            stream.flush()
            if target is None:
                _pour(stream, sys.stdout.buffer)
                return
            os.fsync(stream.fileno())
            if target.exists() and not target.is_file():  # a device or a pipe is written to, not replaced
                with target.open("wb") as device:
                    _pour(stream, device)
                return
        os.chmod(name, 0o666 & ~_umask())
        final = Path(os.path.realpath(target))
        os.replace(name, final)
        sync_folder(final.parent)
    except BrokenPipeError:
        raise  # whoever read stdout has seen enough
    except OSError as error:
        named = "stdout" if target is None else shown(place)
        raise StoreError(f"{named} cannot be written ({error.strerror}); make room, or name another") from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


@contextmanager
def compressed(stream: IO[bytes], path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The stream itself, or a compressing one over it where the path ends in `.gz`."""
    if not os.fspath(path).endswith(".gz"):
        yield stream
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=6) as zipped:
        yield cast("IO[bytes]", zipped)


class Source:
    """A file that is read more than once, compressed or not; what comes by stdin is kept in a temporary file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path_text(path, "path")
        self.name = "stdin" if self.path == STREAM else self.path
        self._kept: IO[bytes] | None = None

    def __enter__(self) -> Source:
        if self.path == STREAM:
            self._kept = tempfile.TemporaryFile()
            _pour(sys.stdin.buffer, self._kept, rewind=False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._kept is not None:
            self._kept.close()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The content from its beginning.

        Raises:
            InvalidInputError: it cannot be read.
        """
        with ExitStack() as stack:
            if self._kept is not None:
                self._kept.seek(0)
                raw: IO[bytes] = self._kept
            else:
                try:
                    raw = stack.enter_context(Path(self.path).expanduser().open("rb"))
                except OSError as error:
                    raise InvalidInputError(f"{self.name} cannot be read ({error.strerror}); check the path") from None
            head = raw.read(2)
            raw.seek(0)
            if head == _GZIP_MAGIC:
                raw = cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=raw, mode="rb")))
                raw = io.BufferedReader(cast("io.RawIOBase", raw), 1 << 20)
                stack.callback(cast("io.BufferedReader", raw).detach)
            yield raw


def _pour(source: IO[bytes] | BinaryIO, target: IO[bytes] | BinaryIO, *, rewind: bool = True) -> None:
    if rewind:
        source.seek(0)
    shutil.copyfileobj(source, target, 1 << 20)
    target.flush()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
