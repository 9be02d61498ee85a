"""Laws for people: a page of Markdown, and a table of comma-separated values. Neither needs sqlglot."""

from __future__ import annotations

import csv
import io
import re

from lawful.exports.result import Export
from lawful.exports.settings import Order
from lawful.exports.targets.said import one_line
from lawful.results import FoundLaw

_FIELDS = ("law", "kind", "strength", "interest", "tested", "violating", "error")


def export_markdown(order: Order) -> Export:
    """One page: a table of the laws, the strongest first as they were given."""
    laws = order.chosen.laws
    used = [field for field in _FIELDS if any(_value(found, field) is not None for found in laws)]
    lines = [f"# Laws of {_cell(order.chosen.table if order.table is None else order.table)}", ""]
    lines += [f"{len(laws):,} laws, null: {order.chosen.null.value}", ""]
    lines += [f"| {' | '.join(used)} |", f"|{'---|' * len(used)}"]
    for found in laws:
        cells = [_code(found.text) if field == "law" else _shown(found, field) for field in used]
        lines.append(f"| {' | '.join(cells)} |")
    return _listed("markdown", order, "laws.md", "\n".join(lines) + "\n")


def export_csv(order: Order) -> Export:
    """One file, a line for each law."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow((*_FIELDS, "null"))
    for found in order.chosen.laws:
        values = [_value(found, field) for field in _FIELDS]
        table.writerow(["" if value is None else value for value in (*values, order.chosen.null.value)])
    return _listed("csv", order, "laws.csv", written.getvalue())


def _listed(target: str, order: Order, file: str, content: str) -> Export:
    """Every law can be listed, and what is good to know of queries is not said: there are none."""
    return Export(target, {file: content}, len(order.chosen.laws), (), order.chosen.notes, ())


def _value(found: FoundLaw, field: str) -> str | float | None:
    if field == "law":
        return found.text
    if field == "kind":
        return found.law.kind
    value: float | None = getattr(found, field)
    return value


def _shown(found: FoundLaw, field: str) -> str:
    value = _value(found, field)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else _cell(str(value))


def _code(text: str) -> str:
    """A text as code within a table: backticks are fenced by more of them, and bars are escaped."""
    shown = one_line(text).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    space = " " if "`" in shown else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _cell(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#&])", r"\\\1", one_line(text))
