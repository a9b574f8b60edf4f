"""Packages whose names load their modules on first use (PEP 562), so that a short command loads only what it needs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def attach(package: str, homes: Mapping[str, Sequence[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose names stand in these modules.

    Args:
        package: its `__name__`.
        homes: full names of modules, each with the names that the package offers of it. None may be called as a module
            of the package is: once that was imported, the name would be the module.
    """
    module_of = {name: module for module, names in homes.items() for name in names}
    shadowed = sorted(name for name in module_of if f"{package}.{name}" in homes)
    if shadowed:
        raise ImportError(f"{package}.{shadowed[0]} is a module and cannot be a lazy name too; import it at once")

    def load(name: str) -> Any:
        module = module_of.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return load, names
