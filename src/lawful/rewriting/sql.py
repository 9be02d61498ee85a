"""Rewriting the ORDER BY and GROUP BY of one query, where that is safe, and saying why where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect, Dialects
from sqlglot.errors import SqlglotError

from lawful.common.errors import UsageError
from lawful.rewriting.databases import usable_rules
from lawful.rewriting.group_clause import rewrite_group
from lawful.rewriting.known_laws import KnownLaws
from lawful.rewriting.names import UnsafeError
from lawful.rewriting.order_clause import OrderRewriting
from lawful.rewriting.queries import Query
from lawful.rewriting.reasoning import AgreementRule, Reasoner
from lawful.rewriting.result import Rewriting


def rewrite_query(sql: str, known: KnownLaws, dialect: str, indexes: Sequence[str], exact_text: bool) -> Rewriting:
    """Rewrite a query as far as laws justify; see `lawful.rewriting.rewrite`."""
    spoken = find_dialect(dialect)
    tree = _parse(sql, spoken)
    rules, left_out = usable_rules(known.laws, known.columns, dialect, exact_text)
    refused = (*known.refused, *left_out)
    try:
        query = Query(sql, tree, spoken, dialect, known)
    except UnsafeError as reason:
        return Rewriting(sql, sql, dialect, notes=(f"the query is left as it is: {reason}",), refused=refused)
    rules += [AgreementRule(frozenset(), column, given) for column, given in query.facts.constants.items()]
    _rewrite_clauses(query, Reasoner(rules), indexes)
    unknown = query.names.names[len(known.columns) :]
    if unknown and not query.steps and not query.notes:
        query.notes.append(f"nothing can be shortened by these laws, which do not know {', '.join(unknown)}")
    return Rewriting(sql, query.sql, dialect, tuple(query.steps), tuple(query.uses), tuple(query.notes), refused)


def find_dialect(name: str) -> Dialect:
    """Give the dialect of this name; without a name, the one that is like no database in particular."""
    try:
        return Dialect.get_or_raise(name)
    except ValueError:
        known = ", ".join(sorted(each.value for each in Dialects if each.value))
        raise UsageError(f"unknown SQL dialect {name!r}", f"Dialects: {known}.") from None


def _parse(sql: str, dialect: Dialect) -> exp.Expression:
    try:
        trees = dialect.parse(sql)
    except (SqlglotError, RecursionError) as error:
        lines = str(error).splitlines() or ["it nests too deep"]
        raise UsageError(
            f"the query cannot be parsed: {lines[0]}", "Name its dialect, such as --dialect spark."
        ) from None
    queries = [tree for tree in trees if tree is not None]
    if not queries:
        raise UsageError("there is no query to rewrite", 'Write it in quotes: "select * from t order by a, b".')
    if len(trees) != 1:
        raise UsageError(f"one query is rewritten at a time, and these are {len(trees)}")
    return cast(exp.Expression, trees[0])


def _rewrite_clauses(query: Query, reasoner: Reasoner, indexes: Sequence[str]) -> None:
    """Rewrite the ORDER BY, then the GROUP BY, which may spare what is no longer sorted by."""
    known = [query.index(index) for index in indexes]
    if query.select.args.get("order"):
        try:
            OrderRewriting(query, reasoner).rewrite(known)
        except UnsafeError as reason:
            query.notes.append(f"ORDER BY is left as it is: {reason}")
    elif indexes:
        query.notes.append("the query has no ORDER BY, so no index is needed for it")
    if query.select.args.get("group"):
        try:
            rewrite_group(query, reasoner)
        except UnsafeError as reason:
            query.notes.append(f"GROUP BY is left as it is: {reason}")
