"""A Soda contract (Soda 4): every law as a check by failed rows."""

from __future__ import annotations

from typing import Any

from lawful.exports.result import Export
from lawful.exports.settings import Order
from lawful.exports.targets.said import Said, description
from lawful.exports.yaml_text import to_yaml

_SOURCE = "data_source"


def export_soda(order: Order) -> Export:
    """One contract. A check for duplicates would do for keys, but leaves nulls out; queries say what null means."""
    said = Said("soda", order)
    slugs = order.slugs()
    checks: list[dict[str, Any]] = []
    for found in said.laws():
        query = order.writer.query(found.law, "rows")
        if query is None:
            said.cannot(found.law)
            continue
        slug = slugs.of(found.law)
        checks.append(
            {"failed_rows": {"name": description(found), "qualifier": slug, "query": query.replace("${", "$ {")}}
        )
        said.said += 1
    parts = [part.name for part in order.writer.table.parts]
    names = order.chosen.all_names or tuple(dict.fromkeys(name for each in said.laws() for name in each.law.columns))
    contract = {
        "dataset": "/".join([_SOURCE, *parts]),
        "columns": [{"name": name} for name in names],
        "checks": checks,
    }
    said.files["contract.yml"] = to_yaml(contract, *said.comments())
    return said.export(f"the contract names its data source {_SOURCE!r}: write the name of yours")
