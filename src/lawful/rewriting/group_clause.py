"""The GROUP BY of a query: the columns that it can do without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lawful.dependencies.notation import format_name
from lawful.rewriting.names import UnsafeError, has_only
from lawful.rewriting.orders import shorten_grouping
from lawful.rewriting.queries import Query
from lawful.rewriting.reasoning import Proof, Reasoner
from lawful.rewriting.result import Step
from lawful.rewriting.texts import without_groups


def rewrite_group(query: Query, reasoner: Reasoner) -> None:
    """Take columns out of the GROUP BY that the others determine, unless the query shows them as they are."""
    group = query.select.args["group"]
    several = any(node.key in ("rollup", "cube", "groupingsets") for node in group.find_all(exp.Expression))
    if several or not has_only(group, "expressions"):
        raise UnsafeError("it groups in several ways")
    meant = [query.outputs.grouped(term) for term in group.expressions]
    columns = [column for column in dict.fromkeys(meant) if column is not None]
    needed = _needed_outside_groups(query, columns)
    dropped = shorten_grouping(reasoner, columns, needed)
    gone: dict[int, Proof] = {}
    for place, column in enumerate(meant):
        if column is not None and (column in dropped or column in meant[:place]):
            gone[place] = dropped.get(column, ())
    if gone:
        _drop(query, gone)
    _note_shown(query, reasoner, [column for column in columns if column not in dropped], needed)


def _drop(query: Query, gone: dict[int, Proof]) -> None:
    group = query.select.args["group"]
    terms = group.expressions
    texts = tuple(term.sql(dialect=query.dialect) for term in terms)
    for place, proof in gone.items():
        why = "rows that agree on the other columns agree on it" if proof else "it is grouped by twice"
        after = tuple(text for other, text in enumerate(texts) if other not in gone)
        query.steps.append(Step("group by", f"{texts[place]} is dropped: {why}", texts, after, query.written(proof)))
    group.set("expressions", [term for place, term in enumerate(terms) if place not in gone])
    query.sql = without_groups(query.sql, query.select, len(terms), gone, query.dialect)


def _note_shown(query: Query, reasoner: Reasoner, kept: Sequence[int], needed: set[int]) -> None:
    """Say what could be dropped if it were not shown: a change of the select list is for people to make."""
    for column in kept:
        others = [other for other in kept if other != column]
        proof = reasoner.determined(others, (column,)) if others and column in needed else None
        if proof:
            name, by = format_name(column, query.names.names), "; ".join(query.written(proof))
            query.notes.append(f"GROUP BY could do without {name}, if the query did not show it as it is: {by}")


def _needed_outside_groups(query: Query, columns: Sequence[int]) -> set[int]:
    """Find the grouped columns that the query shows or uses as they are, so that they must be grouped by."""
    if query.outputs.stars:
        return set(columns)
    names = {query.names.names[column].lower(): column for column in columns}
    needed: set[int] = set()
    for part in ("expressions", "having", "qualify", "windows", "order", "distinct"):
        value: Any = query.select.args.get(part)
        for tree in value if isinstance(value, list) else [value] if value else []:
            for column in tree.find_all(exp.Column):
                aggregated = column.find_ancestor(exp.AggFunc) and not column.find_ancestor(exp.Window)
                words = {column.name.lower(), column.table.lower()}  # a qualifier may be a column with fields
                needed |= {names[word] for word in words & names.keys() if not aggregated}
    return needed
