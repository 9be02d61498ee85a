"""What tasks do with texts that are encoded by shuffles, put together by hand: the table that this process gives."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lawful.common.errors import SourceError
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.files import read_chunks
from lawful.tables.local_pipeline import find_csv_layout
from lawful.tables.options import CsvDialect, ReadOptions
from lawful.tables.shuffled.order_keys import Reading
from lawful.tables.shuffled.text_tasks import key_maker, misfit_finder, text_rows
from lawful.tables.shuffled.text_types import Misfit, settled
from lawful.tables.text_layout import TextLayout, json_layout
from tables.conftest import encode_locally
from tables.text_strategies import text_columns


def splits(data: bytes, cuts: Sequence[int]) -> list[pa.RecordBatch]:
    """The lines of a file as Spark gives them, in splits that end after the lines of the given numbers."""
    lines = data.removesuffix(b"\n").split(b"\n")
    ends = [0, *sorted({cut for cut in cuts if 0 < cut < len(lines)}), len(lines)]
    batches = []
    for first, last in itertools.pairwise(ends):
        some = lines[first:last]
        columns = [pa.array(some, pa.binary()), pa.array(["f"] * len(some)), pa.array([first] * len(some), pa.int64())]
        batches.append(pa.RecordBatch.from_arrays(columns, names=["line", "file", "start"]))
    return batches


def parsed(data: bytes, layout: TextLayout, cuts: Sequence[int]) -> pa.Table | None:
    """The rows with their numbers; None if a split begins inside quotes, or a line cannot be read."""
    lines = pa.Table.from_batches(list(text_rows(layout)(iter(splits(data, cuts))))).to_pylist()
    surveys = [json.loads(line["about"]) for line in lines if line["about"] is not None]
    if any(survey["error"] is not None for survey in surveys):
        return None
    rows = [line for line in lines if line["about"] is None]
    assert [survey["rows"] for survey in surveys] == [
        sum(line["file"] == f"{survey['start']} f" for line in rows) for survey in surveys
    ]
    columns = [pa.array([line[f"c{column}"] for line in rows], pa.string()) for column in range(len(layout.keep))]
    names = ["row", *(f"c{column}" for column in range(len(columns)))]
    return pa.table([pa.array(range(len(rows)), pa.int64()), *columns], names=names)


def readings_of(rows: pa.Table, pieces: int, *, is_json: bool) -> dict[int, Reading]:
    """How columns are read, by what several tasks find."""
    width = rows.num_columns - 1
    found: dict[int, dict[str, Misfit]] = {column: {} for column in range(width)}
    for batch in rows.to_batches(max_chunksize=pieces):
        for told in misfit_finder(range(width), is_json=is_json)(iter([batch])):
            for line in told.to_pylist():
                own, misfit = found[line["column"]], Misfit(line["row"], line["text"])
                own[line["test"]] = min(misfit, own.get(line["test"], misfit))
    return {column: settled(misfits, None) for column, misfits in found.items()}


def assert_same(rows: pa.Table, table: EncodedTable, pieces: int, *, is_json: bool) -> None:
    assert rows.num_rows == table.rows
    if not rows.num_rows:
        return
    readings = readings_of(rows, pieces, is_json=is_json)
    batches = key_maker(readings, is_json=is_json)(iter(rows.to_batches(max_chunksize=pieces)))
    keyed = pa.Table.from_batches(list(batches))
    for column, reading in readings.items():
        keys = keyed.column(f"c{column}").to_pylist()
        order = sorted({key for key in keys if key is not None})
        assert reading.type is table.type(column)
        assert [0 if key is None else order.index(key) + 1 for key in keys] == table.column(column).tolist()
        texts = keyed.column(f"c{column}" if reading.is_plain else f"t{column}")
        shown = pc.cast(texts, pa.string()).to_pylist()
        assert [shown[keys.index(key)] for key in order] == table.values(column).to_pylist()


_cells = st.one_of(st.none(), st.text('ab",\n\r ;1', max_size=4))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(text_columns(), min_size=1, max_size=2),
    st.lists(_cells, max_size=12),
    st.lists(st.integers(0, 20), max_size=3),
    st.integers(1, 5),
)
def test_hostile_csv(
    tmp_path: Path, columns: list[list[str | None]], cells: list[str | None], cuts: list[int], pieces: int
) -> None:
    """Columns of every kind of text, and cells with quotes, newlines, blanks and null tokens."""
    rows = max(map(len, [*columns, cells]))
    padded = [[*column, *[None] * (rows - len(column))] for column in (*columns, cells)]
    lines = [[f"c{n}" for n in range(len(padded))], *zip(*padded, strict=True)]
    path = tmp_path / "t.csv"
    path.write_bytes("".join(",".join(map(_written, line)) + "\n" for line in lines).encode())
    options = ReadOptions("csv", CsvDialect(null_tokens=("NULL",)))
    layout = find_csv_layout([path], options, "", lambda file: read_chunks(file, "utf-8", newline_bytes=True))
    try:
        table = encode_locally(path, reuse=False, dialect=options.dialect)
    except SourceError:  # a bare carriage return, for one
        assert parsed(path.read_bytes(), layout, []) is None
        return
    found = parsed(path.read_bytes(), layout, cuts) or parsed(path.read_bytes(), layout, [])
    assert found is not None
    assert_same(found, table, pieces, is_json=False)


def _written(cell: str | None) -> str:
    return "NULL" if cell is None else '"' + cell.replace('"', '""') + '"'


_values = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([1.5, -0.25, 1e30]), st.text("1t.", max_size=2)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(st.sampled_from("ab"), _values), min_size=1, max_size=8), st.integers(1, 5))
def test_json_of_mixed_types(tmp_path: Path, objects: list[dict[str, object]], pieces: int) -> None:
    names = list(dict.fromkeys(name for each in objects for name in each))
    if not names:
        return
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in objects))
    layout = json_layout({name: set() for name in names}, ReadOptions("jsonl"), "")
    rows = parsed(path.read_bytes(), layout, [2, 5])
    assert rows is not None
    assert_same(rows, encode_locally(path, reuse=False), pieces, is_json=True)
