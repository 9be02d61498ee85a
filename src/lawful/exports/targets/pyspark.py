"""A Python module that finds what breaks each law of a Spark DataFrame."""

from __future__ import annotations

from lawful.exports.result import Export, Query
from lawful.exports.settings import Order
from lawful.exports.targets.said import Said, one_line

_HEAD = '''
from __future__ import annotations

from pyspark.sql import DataFrame

TABLE = {table!r}

QUERIES: dict[str, str] = {{
{queries}}}
"""For each law the query that gives rows exactly if it is broken; {{table}} stands for the table."""


def violations(table: DataFrame, law: str) -> DataFrame:
    """What breaks a law."""
    return table.sparkSession.sql(QUERIES[law], table=table)


def broken_laws(table: DataFrame) -> list[str]:
    """The laws that are broken."""
    return [law for law in QUERIES if violations(table, law).limit(1).count()]


if __name__ == "__main__":
    import sys

    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    found = broken_laws(session.table(sys.argv[1] if len(sys.argv) > 1 else TABLE))
    print("\\n".join(f"broken: {{law}}" for law in found) or "all laws hold")  # noqa: T201
    sys.exit(1 if found else 0)
'''


def export_pyspark(order: Order) -> Export:
    """One module; it needs PySpark and nothing of lawful."""
    said = Said("pyspark", order)
    entries = []
    for found in said.laws():
        query = order.writer.on("{table}", found.law, order.form, _doubled)
        if query is None:
            said.cannot(found.law)
            continue
        said.said += 1
        said.queries.append(Query(found.text, query))
        entries.append(f"    {found.text!r}: (\n{_literal(query)}    ),\n")
    head = "".join(f"# {one_line(line)}\n" for line in said.comments())
    said.files["violations.py"] = head + _HEAD.format(table=order.table_sql, queries="".join(entries))
    return said.export()


def _doubled(query: str) -> str:
    """Braces that mean themselves, for a text that Spark formats."""
    return query.replace("{", "{{").replace("}", "}}")


def _literal(query: str) -> str:
    """A text as a literal of Python for each of its lines."""
    return "".join(f"        {line!r}\n" for line in query.splitlines(keepends=True))
