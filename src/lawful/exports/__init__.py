"""Laws in the words of other tools, and their rules as laws.

Each part is loaded when it is asked for: help lists the targets without loading sqlglot.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lawful.exports.exporting import export
    from lawful.exports.importing import ImportedLaws, import_laws
    from lawful.exports.result import Export, Unsaid

__all__ = ["Export", "ImportedLaws", "Unsaid", "export", "import_laws"]

_HOMES = {
    "Export": "result",
    "ImportedLaws": "importing",
    "Unsaid": "result",
    "export": "exporting",
    "import_laws": "importing",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"lawful.exports.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lawful.exports' has no attribute {name!r}")
