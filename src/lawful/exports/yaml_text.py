"""YAML, written for people and read without trust."""

from __future__ import annotations

import re
from typing import Any

from lawful.common.errors import SourceError, UsageError

try:
    import yaml
except ModuleNotFoundError as error:
    if error.name != "yaml":
        raise
    raise UsageError("this needs PyYAML", "Run: pip install 'lawful[exports]'") from None

_BLOCK = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]*")
_MOST_NESTED = 50
_MOST_CHARACTERS = 20_000_000


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML brings no types
    """Writes texts of several lines as such."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
        return super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    is_block = "\n" in text and _BLOCK.fullmatch(text) and not re.search(r"[ \t]\n|^\s|[ \t]$", text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if is_block else None)


_Dumper.add_representer(str, _text)


def to_yaml(document: Any, *comments: str) -> str:
    """Write a document, below comments of a line each."""
    head = "".join(f"# {_one_line(comment)}\n" for comment in comments)
    return head + str(yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**6))


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML brings no types
    """Reads no aliases: a few lines of them can stand for more than memory holds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not read here")
        self._depth = getattr(self, "_depth", 0) + 1
        if self._depth > _MOST_NESTED:
            raise yaml.YAMLError("it nests too deep")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def from_yaml(text: str) -> Any:
    """Read a document of plain values."""
    if len(text) > _MOST_CHARACTERS:
        raise SourceError("is too large")
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  # a loader of plain values
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SourceError(f"is not valid YAML: {' '.join(str(error).split())}") from None
