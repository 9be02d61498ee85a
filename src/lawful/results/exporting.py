"""The way from a result to other tools: exports are made by a later room, which is told of here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

_exporters: Final[list[Callable[..., Any]]] = []


def register_exporter(export: Callable[..., Any]) -> None:
    """Let results export themselves."""
    _exporters[:] = [export]


class Exportable:
    """A result with laws that can be put into the words of another tool."""

    __slots__ = ()

    def export(self, to: str = "sql", **options: Any) -> Any:
        """Export the laws; see `lawful.export`."""
        return _exporters[0](self, to, **options)
