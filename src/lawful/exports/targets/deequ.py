"""Deequ: checks for PyDeequ, and rules in the data quality definition language (DQDL)."""

from __future__ import annotations

from lawful.dependencies import Key
from lawful.exports.result import Export, Unsaid
from lawful.exports.settings import Order
from lawful.exports.targets.said import Said, one_line
from lawful.results import FoundLaw

_HEAD = '''
from __future__ import annotations

from pydeequ.checks import Check, CheckLevel
from pydeequ.verification import VerificationSuite

KEYS: list[tuple[str, ...]] = [
{keys}]
"""The keys; the other laws are in rules.dqdl."""


def lawful_check(spark):
    """A check of all keys."""
    check = Check(spark, CheckLevel.Error, {name!r})
    for first, *others in KEYS:
        check = check.isPrimaryKey(first, *others)
    return check


def verify(spark, table):
    """Run it on a DataFrame."""
    return VerificationSuite(spark).onData(table).addCheck(lawful_check(spark)).run()
'''


def export_deequ(order: Order) -> Export:
    """All laws as rules of DQDL, and keys without nulls as checks of PyDeequ, which has no query of its own."""
    said = Said("deequ", order)
    rules, keys, only_dqdl = [], [], []
    for found in said.laws():
        if _is_primary(found, order):
            keys.append(f"    {tuple(found.law.columns)!r},\n")
            rules.append("    IsPrimaryKey " + " ".join(map(_quoted, found.law.columns)))
        else:
            around = ("SELECT COUNT(*) FROM (\n", "\n) AS broken")
            query = order.writer.on("primary", found.law, order.form, around=around)
            if query is None:
                said.cannot(found.law)
                continue
            only_dqdl.append(Unsaid(found.text, "PyDeequ has no check by a query; it is in rules.dqdl"))
            rules.append(f"    CustomSql {_quoted(query)} = 0")
        said.said += 1
    said.files["rules.dqdl"] = "Rules = [\n" + ",\n".join(rules) + "\n]\n"
    if keys:
        lines = [*said.comments(), *(f"not here, because {each.reason}: {each.law}" for each in only_dqdl)]
        head = "".join(f"# {one_line(line)}\n" for line in lines)
        name = f"lawful {order.table_word}"
        said.files["deequ_checks.py"] = head + _HEAD.format(keys="".join(keys), name=name)
    if only_dqdl:
        said.notes.append(f"{len(only_dqdl):,} laws are in rules.dqdl alone: PyDeequ has no check by a query")
    return said.export()


def _is_primary(found: FoundLaw, order: Order) -> bool:
    """Whether `isPrimaryKey` says the same: it lets no null pass that another row has too, and none had any."""
    columns = found.law.columns
    is_key = isinstance(found.law.positional, Key) and bool(columns) and order.writer.are_equal_as_they_are(columns)
    return is_key and not order.chosen.may_be_null(columns)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
