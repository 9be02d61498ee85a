"""Columns whose values have no order here: lists, structures and the like are left out, and that is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from lawful.common.column_names import ColumnNames, listed_types, short_text
from lawful.common.errors import SourceError, UsageError
from lawful.tables.options import ReadOptions, choose_columns
from lawful.tables.ranking import column_type

_SHOWN_TYPE = b"lawful.type"


def unordered_types(schema: pa.Schema) -> dict[str, str]:
    """The columns of a schema whose values have no order, with their types."""
    return {field.name: _shown_type(field) for field in schema if column_type(field.type) is None}


def unordered_field(name: str, shown_type: str) -> pa.Field:
    """A column of values that Arrow has no type for."""
    return pa.field(name, pa.struct([]), metadata={_SHOWN_TYPE: shown_type})


def _shown_type(field: pa.Field) -> str:
    known = (field.metadata or {}).get(_SHOWN_TYPE)
    return str(field.type) if known is None else known.decode(errors="replace")


def choose_ordered_columns(
    available: Sequence[str], unordered: Mapping[str, str], options: ReadOptions, where: str
) -> ColumnNames:
    """The columns to read: those that were chosen, or all but the `unordered` ones, whose types are given."""
    chosen = [available[position] for position in choose_columns(available, options, where)]
    for name in (*(options.columns or ()), *options.types):
        if name in unordered:
            raise UsageError(
                f"{where}: column {name!r} is left out: it has type {short_text(unordered[name])}, "
                "and laws are about single values",
                "Flatten it first, or choose other columns.",
            )
    kept = [name for name in chosen if name not in unordered]
    if not kept:
        raise SourceError(
            f"{where}: no column is left, since laws are about single values: {listed_types(unordered)}",
            "Flatten a column first.",
        )
    return ColumnNames(kept, {name: unordered[name] for name in chosen if name in unordered})
