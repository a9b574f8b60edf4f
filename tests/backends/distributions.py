"""Small distributions with backends of their own, installed by pip into a folder of the test."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path


def install(target: Path, name: str, entry_points: str, source: str = "", version: str = "1.0") -> Path:
    """Installs the distribution NAME with one module of the same name into `target`; gives `target` back."""
    module = name.replace("-", "_")
    wheel = target.parent / f"{module}-{version}-py3-none-any.whl"
    info = f"{module}-{version}.dist-info"
    files = {
        f"{module}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[alma_graph.backends]\n{entry_points}\n",
    }
    record = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(target), str(wheel)], check=True, capture_output=True, text=True)
    return target


SHELF = '''
"""Stores that live on a shelf of this process, by name, until they are dropped."""

from alma_graph.backends.memory import MemoryBackend
from alma_graph.errors import InvalidInputError


class ShelfBackend(MemoryBackend):
    name = "shelf"


_shelf = {}


def open_shelf(location, *, read_only, create, lock_timeout, **options):
    if options:
        raise InvalidInputError(f"{next(iter(options))!r} is no option of the shelf")
    if location not in _shelf and not create:
        raise InvalidInputError(f"{location!r} is not on the shelf")
    return _shelf.setdefault(location, ShelfBackend())
'''
"""Source of a distribution whose backend works."""
