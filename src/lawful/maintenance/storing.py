"""A living table and its laws as plain arrays, and back: what a base holds, and what a batch logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyroaring import BitMap64

from lawful.common.arrays import Bytes, Words
from lawful.common.meanings import ColumnType
from lawful.maintenance.durable_files import Arrays
from lawful.tables.living.codes import Codes
from lawful.tables.living.dictionary import Dictionary
from lawful.tables.living.living_table import LivingColumn, LivingTable, RowOrigins
from lawful.tables.origins import Origins

Numbered = tuple[int, Words]
"""Some laws, packed, and a number that tells what they have in common."""


def as_bytes(document: Any) -> Bytes:
    """JSON values as an array."""
    return np.frombuffer(json.dumps(document, ensure_ascii=True).encode(), np.uint8)


def from_bytes(data: npt.NDArray[Any]) -> Any:
    """JSON values of an array."""
    return json.loads(data.tobytes())


def columns_document(table: LivingTable) -> list[dict[str, Any]]:
    """The columns and their pinned types, as plain JSON values."""
    return [{"name": column.name, "type": column.type.value, "settled": column.settled} for column in table.columns]


def table_arrays(table: LivingTable) -> Arrays:
    """A living table without the rows that have left."""
    rows = table.live_rows()
    arrays: Arrays = {"codes": table.codes.matrix(rows)}
    ids = table.ids_of(rows)
    arrays["ids"] = np.frombuffer(BitMap64(ids.astype(np.uint64)).serialize(), np.uint8)
    for position, column in enumerate(table.columns):
        arrays[f"texts-{position}"], arrays[f"ends-{position}"] = column.dictionary.arrays()
    return arrays | origins_arrays(table.origins)


def read_table(document: dict[str, Any], arrays: Arrays, version: int) -> LivingTable:
    """Read what `table_arrays` wrote; its rows are numbered from 0, and keep their ids."""
    columns = [
        LivingColumn(
            str(entry["name"]),
            ColumnType(entry["type"]),
            Dictionary.from_arrays(arrays[f"texts-{position}"], arrays[f"ends-{position}"]),
            entry["settled"],
        )
        for position, entry in enumerate(document["columns"])
    ]
    codes = Codes(arrays["codes"])
    ids = np.array(BitMap64.deserialize(arrays["ids"].tobytes()), np.int64)
    next_id = int(document["next_id"])
    # Where no row has left, ids are numbers; where all have, none is left to be told.
    is_plain = len(ids) in (0, next_id)
    return LivingTable(
        str(document["name"]),
        columns,
        codes,
        origins=read_origins(arrays),
        version=version,
        ids=None if is_plain else ids,
        next_id=next_id,
    )


def origins_arrays(origins: RowOrigins) -> Arrays:
    """Where rows came from."""
    batches = [{"files": list(batch.files), "unit": batch.unit, "runs": len(batch.runs)} for batch in origins.batches]
    return {
        "origins": as_bytes({"starts": origins.starts, "batches": batches}),
        "runs": np.concatenate([np.empty((0, 3), np.int64), *(batch.runs for batch in origins.batches)]),
    }


def read_origins(arrays: Arrays) -> RowOrigins:
    """Read what `origins_arrays` wrote."""
    document, runs, first = from_bytes(arrays["origins"]), arrays["runs"], 0
    origins = RowOrigins()
    for start, batch in zip(document["starts"], document["batches"], strict=True):
        origins.add(
            int(start), Origins(tuple(batch["files"]), batch["unit"], np.array(runs[first : first + batch["runs"]]))
        )
        first += batch["runs"]
    return origins


def texts_arrays(table: LivingTable, known: Sequence[int]) -> Arrays:
    """The values that came since the dictionaries had so many codes."""
    texts = [column.dictionary.since(before) for column, before in zip(table.columns, known, strict=True)]
    data, ends = Dictionary.of(pa.concat_arrays([pc.cast(part, pa.large_string()) for part in texts])).arrays()
    return {
        "texts": data,
        "ends": ends,
        "texts-of": np.array([len(part) for part in texts], np.int64),
    }


def add_texts(table: LivingTable, arrays: Arrays) -> None:
    """Give the values of a logged batch the codes that they had."""
    every = Dictionary.from_arrays(arrays["texts"], arrays["ends"])
    first = 1
    for column, count in zip(table.columns, arrays["texts-of"].tolist(), strict=True):
        column.dictionary.add(every.texts(np.arange(first, first + count, dtype=np.int32)))
        first += count


def numbered_arrays(blocks: Iterable[Numbered], name: str) -> Arrays:
    """Laws in blocks, each with a number: three arrays."""
    given = list(blocks)
    width = given[0][1].shape[1] if given else 1
    return {
        f"{name}-goals": np.array([number for number, _ in given], np.int64),
        f"{name}-counts": np.array([len(sets) for _, sets in given], np.int64),
        f"{name}-sets": np.concatenate([np.empty((0, width), np.uint64), *(sets for _, sets in given)]),
    }


def read_numbered(arrays: Arrays, name: str) -> list[Numbered]:
    """Read what `numbered_arrays` gave; nothing where nothing was saved."""
    if f"{name}-goals" not in arrays:
        return []
    blocks, first = [], 0
    for number, count in zip(arrays[f"{name}-goals"].tolist(), arrays[f"{name}-counts"].tolist(), strict=True):
        blocks.append((number, np.ascontiguousarray(arrays[f"{name}-sets"][first : first + count])))
        first += count
    return blocks


def prefixed(arrays: Arrays, prefix: str) -> Arrays:
    """The same arrays under longer names."""
    return {f"{prefix}-{name}": array for name, array in arrays.items()}


def unprefixed(arrays: Arrays, prefix: str) -> Arrays:
    """Those arrays whose names have a prefix, without it."""
    return {name[len(prefix) + 1 :]: array for name, array in arrays.items() if name.startswith(f"{prefix}-")}
