"""Plain SQL: a query for each law."""

from __future__ import annotations

from lawful.exports.result import Export, Query
from lawful.exports.settings import Order
from lawful.exports.targets.said import Said, description, one_line


def export_sql(order: Order) -> Export:
    """One file of queries, each below its law as a comment."""
    said = Said("sql", order)
    parts = []
    for found in said.laws():
        query = order.writer.query(found.law, order.form)
        if query is None:
            said.cannot(found.law)
            continue
        said.said += 1
        said.queries.append(Query(found.text, query))
        parts.append(f"-- {description(found)}\n{query};\n")
    head = "".join(f"-- {one_line(line)}\n" for line in said.comments())
    said.files["violations.sql"] = "\n".join([head, *parts])
    return said.export()
