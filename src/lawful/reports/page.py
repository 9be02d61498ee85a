"""A page as HTML: one file with its style, its program and its data, which can do nothing but show itself."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from lawful.common.errors import UsageError
from lawful.reports.document import PageDocument, Status
from lawful.results.documents import html_table
from lawful.results.json_files import is_device
from lawful.results.texts.shown_text import counted, visible

_SCRIPTS = (
    "dom.js",
    "data.js",
    "theme.js",
    "terms.js",
    "overview.js",
    "broken.js",
    "law_list.js",
    "law_details.js",
    "laws.js",
    "matrix.js",
    "graph.js",
    "plots.js",
    "life.js",
    "main.js",
)
"""The program, in the order in which its parts know each other."""
_WITHOUT_SCRIPTS = 100
"""So many laws are there for a browser that runs no scripts."""
_IN_A_NOTEBOOK = 20


@dataclass(frozen=True)
class ReportPage:
    """A page that shows laws; `is_whole` is false where a limit or the user ended the work before its end."""

    document: PageDocument
    is_whole: bool = True

    def to_html(self) -> str:
        """The page as one text."""
        style, program = _asset("style.css"), _program()
        policy = (
            f"default-src 'none'; script-src '{_hash(program)}'; style-src '{_hash(style)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )
        parts = {
            "policy": policy,
            "title": escape(f"{visible(self.document.title)}: laws"),
            "style": style,
            "data": script_json(self.document.to_dict()),
            "program": program,
            "plain": self._plain_html(),
        }
        pieces = _asset("page.html").split("{{")  # filled from the left, once: data may hold such braces too
        html = [pieces[0]]
        for piece in pieces[1:]:
            name, _, rest = piece.partition("}}")
            html += [parts[name], rest]
        return "".join(html)

    def save(self, path: str | os.PathLike[str], *, replace: bool = False) -> None:
        """Write the page to a new file, whole or not at all; over an existing one only if `replace` says so."""
        target = Path(path)
        require_place(target, replace=replace)
        try:
            _write(self.to_html(), target, replace=replace)
        except OSError as error:
            raise UsageError(f"cannot write {target}: {error.strerror}") from None

    def _plain_html(self) -> str:
        laws = self.document.laws
        order = sorted(range(len(laws.text)), key=lambda place: laws.status[place])[:_WITHOUT_SCRIPTS]
        return html_table(self.summary, [self._record(place) for place in order])

    def _record(self, place: int) -> dict[str, Any]:
        laws = self.document.laws
        return {
            "law": visible(laws.text[place]),
            "status": Status(laws.status[place]).name.lower(),
            "strength": laws.strength[place],
            "violating rows": laws.violating[place],
        }

    @property
    def summary(self) -> str:
        """The page in a line."""
        status = self.document.laws.status
        parts = [counted(self.document.total_laws, "law")]
        for each, word in (
            (Status.BROKEN, "broken"),
            (Status.ALMOST, "almost holding"),
            (Status.UNCHECKED, "not checked"),
        ):
            if number := status.count(int(each)):
                parts.append(f"{number:,} {word}")
        return f"{visible(self.document.title)}: {', '.join(parts)}"

    def __repr__(self) -> str:
        return f"<ReportPage {self.summary}>"

    def _repr_html_(self) -> str:
        laws = self.document.laws
        order = sorted(range(len(laws.text)), key=lambda place: laws.status[place])[:_IN_A_NOTEBOOK]
        return html_table(self.summary, [self._record(place) for place in order])


def require_place(path: Path, *, replace: bool) -> None:
    """Refuse a place where no page can be written, before work is spent on it."""
    if path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder", "Name a file.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    if path.is_file() and not replace:
        raise UsageError(f"cannot write {path}: it is there already", "Name another file, or give --replace.")


def _write(html: str, path: Path, *, replace: bool) -> None:
    target = path.resolve()
    if is_device(target):
        target.write_text(html, "utf-8")
        return
    aside = target.with_name(f".{target.name}.{os.getpid()}.writing")
    try:
        aside.write_text(html, "utf-8")
        if not replace:
            require_place(target, replace=False)  # another file may have come meanwhile
        aside.replace(target)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def script_json(document: object) -> str:
    r"""JSON that can stand in a script element: no `<` ends it, and no character ends a line of a program.

    Half of a surrogate pair, which UTF-8 cannot write, becomes its escape.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return "".join(f"\\u{ord(c):04x}" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text) if _has_halves(text) else text


def _has_halves(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}"


@cache
def _asset(name: str) -> str:
    return (files("lawful.reports") / "assets" / name).read_text("utf-8")


@cache
def _program() -> str:
    body = "\n".join(_asset(name) for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'
