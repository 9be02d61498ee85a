"""dbt 1.10: a file of properties with `data_tests`, generic tests that it uses, and singular tests for the rest."""

from __future__ import annotations

import re
from typing import Any, Final

from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, Key, NamedLaw
from lawful.exports.result import Export
from lawful.exports.settings import Order
from lawful.exports.slugs import plain_word
from lawful.exports.targets.said import Said, description
from lawful.exports.yaml_text import to_yaml

_TAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]*")
_FLAG: Final = (
    "dbt 1.10 reads `arguments` if dbt_project.yml has flags: {require_generic_test_arguments_property: true}"
)

_FD_TEST: Final = """\
{#- Rows that agree on the determinants agree on the dependent column. nulls: 'equal' takes null for a value like
    any other, 'ignore' leaves rows with null in one of the columns out. -#}
{% test lawful_fd(model, determinants, dependent, nulls='equal') %}
{%- set dependent_ = adapter.quote(dependent) %}
{%- set determinants_ = [] %}
{%- for name in determinants %}{% do determinants_.append(adapter.quote(name)) %}{% endfor %}
select
{%- for name in determinants_ %}
  {{ name }},
{%- endfor %}
  count(*) as violating_rows
from {{ model }}
{%- if nulls == 'ignore' %}
where {{ dependent_ }} is not null
{%- for name in determinants_ %} and {{ name }} is not null{% endfor %}
{%- endif %}
{%- if determinants_ %}
group by {{ determinants_ | join(', ') }}
{%- endif %}
having min({{ dependent_ }}) <> max({{ dependent_ }})
  or (count({{ dependent_ }}) < count(*) and count({{ dependent_ }}) > 0)
{% endtest %}
"""
_KEY_TEST: Final = """\
{#- No two rows agree on all of the columns. nulls: as for lawful_fd. -#}
{% test lawful_key(model, columns, nulls='equal') %}
{%- set columns_ = [] %}
{%- for name in columns %}{% do columns_.append(adapter.quote(name)) %}{% endfor %}
select
{%- for name in columns_ %}
  {{ name }},
{%- endfor %}
  count(*) as violating_rows
from {{ model }}
{%- if nulls == 'ignore' %}
where true
{%- for name in columns_ %} and {{ name }} is not null{% endfor %}
{%- endif %}
group by {{ columns_ | join(', ') }}
having count(*) > 1
{% endtest %}
"""


def export_dbt(order: Order) -> Export:
    """Properties of the model, tests for all laws, and constraints for keys."""
    said = Said("dbt", order)
    slugs, model = order.slugs(), order.table_word
    listed: list[dict[str, Any]] = []
    constraints: list[dict[str, Any]] = []
    singular: dict[str, str] = {}
    for found in said.laws():
        law, slug = found.law, slugs.of(found.law)
        if (test := _generic(law, order)) is not None:
            kind, arguments = test
            meta = {"law": found.text, "null": order.chosen.null.value}
            listed.append(
                {
                    kind: {
                        "name": slug,
                        "description": description(found),
                        "arguments": arguments,
                        "config": {"meta": meta},
                    }
                }
            )
            if (constraint := _constraint(law, order, constraints)) is not None:
                constraints.append(constraint)
        else:
            query = order.writer.on(f"{{{{ ref({model!r}) }}}}", law, order.form, _escaped)
            if query is None:
                said.cannot(law)
                continue
            singular[f"tests/lawful/{slug}.sql"] = f"-- {_escaped(description(found))}\n{query}\n"
        said.said += 1
    properties: dict[str, Any] = {"name": model}
    if constraints:
        properties["constraints"] = constraints
    if listed:
        properties["data_tests"] = listed
        kinds = {kind for test in listed for kind in test}
        if "lawful_fd" in kinds:
            said.files["tests/generic/lawful_fd.sql"] = _FD_TEST
        if "lawful_key" in kinds:
            said.files["tests/generic/lawful_key.sql"] = _KEY_TEST
        path = f"models/lawful/{plain_word(model)}.yml"
        said.files[path] = to_yaml({"version": 2, "models": [properties]}, *said.comments(), _FLAG)
    said.files |= singular
    return said.export(*([_FLAG] if listed else []))


def _generic(law: NamedLaw, order: Order) -> tuple[str, dict[str, Any]] | None:
    """A generic test and its arguments, where the columns are compared as they are and their names are tame."""
    names = law.columns
    if not all(_TAME.fullmatch(name) for name in names) or not order.writer.are_equal_as_they_are(names):
        return None
    nulls = order.chosen.null.value
    if isinstance(law.positional, FD):
        dependent = law.names[law.positional.rhs]
        determinants = [law.names[column] for column in law.positional.lhs]
        return "lawful_fd", {"determinants": determinants, "dependent": dependent, "nulls": nulls}
    if isinstance(law.positional, Key) and names:
        return "lawful_key", {"columns": list(names), "nulls": nulls}
    return None


def _constraint(law: NamedLaw, order: Order, before: list[dict[str, Any]]) -> dict[str, Any] | None:
    """A key as a constraint: the first without nulls is the primary one; unique ones let nulls repeat."""
    if not isinstance(law.positional, Key):
        return None
    columns = list(law.columns)
    if not order.chosen.may_be_null(columns):
        has_primary = any(each["type"] == "primary_key" for each in before)
        return {"type": "unique" if has_primary else "primary_key", "columns": columns}
    return {"type": "unique", "columns": columns} if order.chosen.null is NullPolicy.IGNORE else None


def _escaped(text: str) -> str:
    """Braces that mean themselves to dbt, which would run what is between two of them."""
    return text.replace("{", "{{ '{' }}")
