"""lawful finds, checks and keeps the laws that a table obeys.

`lawful.strongest`, `lawful.discover`, `lawful.errors`, `lawful.check`, `lawful.explain` and `lawful.profile` are the
way in; `lawful.open` reads a table once for several of them, and `lawful.load` reads back what was saved.
`lawful.report` makes a page of any of that, to open in a browser.
`lawful.make_state` and `lawful.open_state` keep the laws of a table that changes, `lawful.maintain` and `lawful.follow`
those of a stream, and `lawful.history` tells what became of them. Importing the package loads neither
Spark nor Numba: these come when they are needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lawful.api import (
        CsvDialect,
        PartialFile,
        SparkSettings,
        check,
        discover,
        errors,
        events,
        explain,
        follow,
        history,
        load,
        maintain,
        make_state,
        open_state,
        profile,
        read_laws,
        report,
        strongest,
        warm_up,
    )
    from lawful.api import open as open  # noqa: A004  # named twice because a star import must not hide Python's own
    from lawful.common.errors import LawfulError
    from lawful.dependencies import NamedLaw
    from lawful.exports import export, import_laws
    from lawful.rewriting import rewrite

__version__ = "0.1.0"
__all__ = [
    "CsvDialect",
    "LawfulError",
    "NamedLaw",
    "PartialFile",
    "SparkSettings",
    "__version__",
    "check",
    "discover",
    "errors",
    "events",
    "explain",
    "export",
    "follow",
    "history",
    "import_laws",
    "load",
    "maintain",
    "make_state",
    "open_state",
    "profile",
    "read_laws",
    "report",
    "rewrite",
    "strongest",
    "warm_up",
]

_HOMES = {
    "check": "lawful.api",
    "discover": "lawful.api",
    "errors": "lawful.api",
    "events": "lawful.api",
    "explain": "lawful.api",
    "export": "lawful.exports",
    "import_laws": "lawful.exports",
    "follow": "lawful.api",
    "history": "lawful.api",
    "load": "lawful.api",
    "maintain": "lawful.api",
    "make_state": "lawful.api",
    "open": "lawful.api",
    "open_state": "lawful.api",
    "profile": "lawful.api",
    "read_laws": "lawful.api",
    "report": "lawful.api",
    "strongest": "lawful.api",
    "CsvDialect": "lawful.tables.options",
    "LawfulError": "lawful.common.errors",
    "NamedLaw": "lawful.dependencies",
    "PartialFile": "lawful.api",
    "SparkSettings": "lawful.api",
    "rewrite": "lawful.rewriting",
    "warm_up": "lawful.api",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'lawful' has no attribute {name!r}")
