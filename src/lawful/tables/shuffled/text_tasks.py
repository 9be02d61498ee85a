"""What Spark's Python workers do while texts are encoded by shuffles: parse rows, find misfits, make keys.

Functions here import no Spark: they turn record batches into record batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lawful.common.arrays import Int64s
from lawful.tables.ranking import typed_to_text
from lawful.tables.shuffled.order_keys import Reading, order_keys
from lawful.tables.shuffled.text_types import MARKS, Misfit, failed
from lawful.tables.spark_tasks import Split, Task, gathered, runs_bytes, splits_of, survey_text
from lawful.tables.text_layout import TextLayout

_ABOUT = (("file", pa.string()), ("place", pa.int64()), ("about", pa.string()), ("runs", pa.binary()))
ROWS = "file string, place bigint, about string, runs binary"
"""Before the texts of a row: its split and its place in it. The last line of a split tells of it instead."""
MISFITS = "column int, test string, row bigint, text string"
_MISFIT_TYPES = (pa.int32(), pa.string(), pa.int64(), pa.string())


def split_key(file: str, start: int) -> str:
    """One name for a split of a file."""
    return f"{start} {file}"


def text_rows(layout: TextLayout, transcoded_from: str | None = None) -> Task:
    """A task that parses splits (see `splits_of`) into rows of texts."""
    names = [name for name, _ in _ABOUT] + [f"c{column}" for column in range(len(layout.keep))]
    types = [type_ for _, type_ in _ABOUT] + [pa.string()] * len(layout.keep)

    def parse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (file, start), chunks in splits_of(batches, transcoded_from):
            split, key = Split(layout, file, start, chunks), split_key(file, start)
            for _, parsed in split.blocks():
                rows = parsed.rows
                places = pa.array(np.arange(split.rows, split.rows + rows))
                about = [
                    pa.repeat(pa.scalar(key), rows),
                    places,
                    pa.nulls(rows, pa.string()),
                    pa.nulls(rows, pa.binary()),
                ]
                texts = [column.dictionary_decode() for column in parsed.columns]
                yield pa.RecordBatch.from_arrays([*about, *texts], names=names)
            survey, runs = split.survey()
            told = [key, survey.rows, survey_text(survey), runs_bytes(runs)]
            line = [*told, *(None for _ in layout.keep)]
            arrays = [pa.array([value], type_) for value, type_ in zip(line, types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=names)

    return parse


def misfit_finder(columns: Sequence[int], *, is_json: bool) -> Task:
    """A task that finds, for some columns, the first row that fails each test of `text_types`."""

    def find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: dict[int, dict[str, Misfit]] = {column: {} for column in columns}
        for table in gathered(batches):
            in_order = table.sort_by("row").combine_chunks()
            rows = in_order.column("row").to_numpy()
            for column in columns:
                texts = _as_texts(in_order.column(f"c{column}").combine_chunks())
                _add_misfits(found[column], texts, rows, is_json=is_json)
        lines = [(column, test, *misfit) for column, own in found.items() for test, misfit in own.items()]
        values = zip(*lines, strict=True) if lines else ((),) * len(_MISFIT_TYPES)
        arrays = [pa.array(each, type_) for each, type_ in zip(values, _MISFIT_TYPES, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=[part.split()[0] for part in MISFITS.split(", ")])

    return find


def _add_misfits(found: dict[str, Misfit], texts: pa.DictionaryArray, rows: Int64s, *, is_json: bool) -> None:
    """Add what some rows, in their order, say of a column."""
    entries, codes = texts.dictionary, texts.indices.fill_null(-1).to_numpy()
    failing: list[tuple[str, int]] = []
    if is_json:
        marks = pc.utf8_slice_codeunits(entries, 0, 1)
        failing += [(MARKS[mark.as_py()], pc.index(marks, mark).as_py()) for mark in marks.unique()]
        entries = pc.utf8_slice_codeunits(entries, 1)
    settled = {name for name, misfit in found.items() if misfit.row <= rows[0]}
    failing += failed(entries, found.keys(), settled)
    for name, place in failing:
        misfit = Misfit(int(rows[np.argmax(codes == place)]), entries[place].as_py())
        found[name] = min(misfit, found.get(name, misfit))


def _as_texts(values: pa.Array) -> pa.DictionaryArray:
    """The values of a column as texts, each distinct value once."""
    encoded = values.dictionary_encode()
    if pa.types.is_string(values.type):
        return encoded
    return pa.DictionaryArray.from_arrays(encoded.indices, typed_to_text(encoded.dictionary))


def key_maker(readings: Mapping[int, Reading], *, is_json: bool) -> Task:
    """A task that gives rows the keys of their texts, with the texts (`t0`, …) where keys do not tell them."""

    def make(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            for column, reading in readings.items():
                texts = _as_texts(columns[f"c{column}"])
                entries = pc.utf8_slice_codeunits(texts.dictionary, 1) if is_json else texts.dictionary
                columns[f"c{column}"] = order_keys(entries, reading).take(texts.indices)
                if not reading.is_plain:
                    columns[f"t{column}"] = entries.take(texts.indices)
            yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    return make
