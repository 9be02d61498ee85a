"""Columns without an order, such as lists and structures, are left out of a table, and everyone is told."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lawful
from lawful.common.column_names import ColumnNames
from lawful.common.errors import LawfulError, LawfulWarning, NotationError, SourceError, UsageError
from lawful.common.meanings import ColumnType
from lawful.tables.encoded_table import METADATA, EncodedTable, read_metadata, write_metadata
from lawful.tables.options import ReadOptions
from lawful.tables.spark_pipeline import encode_frame_in_process, encode_on_spark
from tables.conftest import Encode, encode_locally
from tables.looking import cells_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NESTED = pa.table(
    {
        "tags": pa.array([["x"], [], None], pa.list_(pa.string())),
        "a": [1, 2, 2],
        "place": pa.array([{"city": "Bern"}, None, None], pa.struct([("city", pa.string())])),
        "b": ["x", None, "y"],
        "map": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int64())),
    }
)
CELLS = [["1", "x"], ["2", None], ["2", "y"]]


def check_left_out(table: EncodedTable, types: dict[str, str]) -> None:
    assert table.names == ["a", "b"]
    assert cells_of(table) == CELLS
    assert list(table.names.left_out) == list(types)
    for name, type_ in types.items():
        assert table.names.left_out[name].startswith(type_)


@pytest.fixture
def parquet(tmp_path: Path) -> str:
    path = tmp_path / "nested.parquet"
    pq.write_table(NESTED, path)
    return str(path)


@pytest.fixture
def json_lines(tmp_path: Path) -> str:
    path = tmp_path / "nested.jsonl"
    lines: list[dict[str, Any]] = [
        {"a": 1, "tags": "none", "b": "x"},
        {"tags": [], "a": 2, "place": {}},
        {"a": 2, "b": "y", "place": [{}], "tags": ["x"]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_arrow_and_polars_and_pandas() -> None:
    check_left_out(encode_locally(NESTED), {"tags": "list<", "place": "struct<city", "map": "map<"})
    frame = pl.DataFrame({"tags": [["x"], [], None], "a": [1, 2, 2], "p": [{"c": 1}] * 3, "b": ["x", None, "y"]})
    check_left_out(encode_locally(frame), {"tags": "large_list<", "p": "struct<"})
    objects = pd.DataFrame({"a": [1, 2, 2], "tags": [["x"], [], None], "b": ["x", None, "y"], "p": [{"c": 1}] * 3})
    check_left_out(encode_locally(objects), {"tags": "list<", "p": "struct<"})


def test_python_objects_of_polars() -> None:
    objects = pl.Series([object(), None, "x"], dtype=pl.Object)
    frame = pl.DataFrame({"a": [1, 2, 2], "things": objects, "b": ["x", None, "y"]})
    check_left_out(encode_locally(frame), {"things": "Object of polars"})


def test_dictionaries_of_lists_and_other_types_without_an_order() -> None:
    intervals = pa.array([(1, 2, 3)], pa.month_day_nano_interval())
    coded = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array([[1]]))
    table = encode_locally(pa.table({"interval": intervals, "coded": coded, "a": [1]}))
    assert table.names == ["a"]
    assert list(table.names.left_out) == ["interval", "coded"]


def test_parquet(parquet: str, encode: Encode) -> None:
    table = encode(parquet)
    lists = "list<" if "list<" in table.names.left_out["tags"][:5] else "array<string"
    check_left_out(table, {"tags": lists, "place": "struct<city", "map": "map<string"})


def test_json_lines(json_lines: str, encode: Encode) -> None:
    check_left_out(encode(json_lines), {"tags": "list", "place": "list or object"})


def test_json_lines_on_splits_of_several_files(tmp_path: Path, encode: Encode) -> None:
    for number, line in enumerate(['{"a": 1, "b": "x"}', '{"a": 2}', '{"a": 2, "b": "y", "c": [1]}', '{"c": 3}']):
        (tmp_path / f"{number}.jsonl").write_text(line + "\n")
    table = encode(str(tmp_path))
    assert (table.names, table.names.left_out, table.rows) == (["a", "b"], {"c": "list"}, 4)


@pytest.fixture
def frame(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "select array(id) as tags, id + 1 as a, struct(id as x) as place, char(120 + id) as b, map(id, 1) as m, "
        "parse_json('1') as v, make_interval(1) as i, interval '1' month as months, interval '2' hour as hours, "
        "interval '1 2' day to hour as days from range(2)"
    )


SPARK_TYPES = {
    "tags": "array<bigint>",
    "place": "struct<x:bigint>",
    "m": "map<bigint,int>",
    "v": "variant",
    "i": "interval",
    "months": "interval month",
}


def test_frames_of_spark(spark: SparkSession, frame: DataFrame) -> None:
    for table in (encode_on_spark(spark, frame, ReadOptions()), encode_frame_in_process(frame, ReadOptions())):
        assert table.names == ["a", "b", "hours", "days"]
        assert table.names.left_out == SPARK_TYPES
        assert [row[:2] for row in cells_of(table)] == [["1", "x"], ["2", "y"]]
        assert table.type(2) == table.type(3) == ColumnType.DURATION


def test_frames_of_spark_in_this_process_keep_the_order_of_a_choice(frame: DataFrame) -> None:
    table = encode_frame_in_process(frame, ReadOptions(columns=("b", "a")))
    assert (table.names, cells_of(table)) == (["b", "a"], [["x", "1"], ["y", "2"]])


def test_a_table_that_is_found_again_tells_it_again(parquet: str, encode: Encode) -> None:
    first, second = encode(parquet), encode(parquet)
    assert first.folder == second.folder
    assert first.names.left_out == second.names.left_out != {}


def test_a_folder_from_before_columns_were_left_out_still_opens(parquet: str) -> None:
    folder = encode_locally(parquet).folder
    assert folder is not None
    document = read_metadata(folder)
    del document["left_out"], document["crc32"]
    write_metadata(folder, document)
    table = EncodedTable.open(folder)
    assert (table.names, table.names.left_out, cells_of(table)) == (["a", "b"], {}, CELLS)


@pytest.mark.parametrize("wrong", [5, [5], [{"name": "x"}], "ab"])
def test_what_is_garbled_is_damage(parquet: str, wrong: object) -> None:
    folder = encode_locally(parquet).folder
    assert folder is not None
    document = read_metadata(folder) | {"left_out": wrong}
    del document["crc32"]
    write_metadata(folder, document)
    with pytest.raises(LawfulError, match="is damaged"):
        EncodedTable.open(folder)
    assert json.loads((folder / METADATA).read_text())["left_out"] == wrong


@pytest.mark.parametrize("asked", [{"columns": ("a", "place")}, {"types": {"place": ColumnType.STRING}}])
def test_a_chosen_column_that_has_no_order_is_refused(
    parquet: str, json_lines: str, encode: Encode, asked: dict[str, Any]
) -> None:
    for source, type_ in ((parquet, "struct<city.*>"), (json_lines, "list or object")):
        message = rf"column 'place' is left out: it has type {type_}, and laws are about single values\nFlatten it"
        with pytest.raises(UsageError, match=message):
            encode(source, **asked)


def test_what_was_not_chosen_is_not_told(parquet: str, json_lines: str, encode: Encode) -> None:
    for source in (parquet, json_lines):
        assert encode(source, columns=("b",)).names.left_out == {}


def test_a_table_of_nothing_else(tmp_path: Path, encode: Encode) -> None:
    pq.write_table(NESTED.select(["tags", "place"]), tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text('{"tags": [1], "place": {}}\n')
    for name in ("t.parquet", "t.jsonl"):
        with pytest.raises(SourceError, match=rf"{name}: no column is left, .*: 'tags' \(.*\), 'place' \("):
            encode(str(tmp_path / name))


def test_python_warns_at_the_line_that_called(parquet: str) -> None:
    message = r"nested\.parquet: 3 columns are left out, since laws are about single values: 'tags' \(list<"
    verbs: list[Any] = [
        lambda: lawful.profile(parquet),
        lambda: lawful.check(parquet, "a -> b"),
        lambda: lawful.explain(parquet, "a -> b"),
        lambda: lawful.discover(parquet),
    ]
    for verb in verbs:
        with pytest.warns(LawfulWarning, match=message) as caught:
            verb()
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("law", ["a -> place", "key(place)", "{}: a asc ~ place asc", "not(t.place = s.place)"])
def test_a_law_of_such_a_column_is_refused(parquet: str, law: str) -> None:
    message = 'The column "place" is left out: it has type struct<city.*>, and laws are about single values'
    with pytest.warns(LawfulWarning), pytest.raises(NotationError, match=message):
        lawful.check(parquet, law)


def test_documents_name_what_was_left_out(parquet: str) -> None:
    with pytest.warns(LawfulWarning):
        documents = [lawful.profile(parquet).to_dict(), lawful.discover(parquet).to_dict()]
    for document in documents:
        assert [entry["name"] for entry in document["table"]["left_out"]] == ["tags", "place", "map"]
        assert document["table"]["left_out"][1]["type"].startswith("struct<city")
    assert "left_out" not in lawful.profile(parquet, columns=["a"]).to_dict()["table"]


def test_long_lists_and_types_are_cut() -> None:
    types = {f"c{number}": "struct<" + "x" * 500 for number in range(300)}
    told = ColumnNames(["a"], types).told()
    assert told is not None
    assert told.startswith("300 columns are left out")
    assert told.endswith("'c19' (struct<" + "x" * 72 + "…) and 280 more")
    assert ColumnNames(["a"], {"b": "list"}).told() == (
        "1 column is left out, since laws are about single values: 'b' (list)"
    )
    assert ColumnNames(["a"]).told() is None


def test_names_travel_whole() -> None:
    names = ColumnNames(["a"], {"b": "list"})
    again = pickle.loads(pickle.dumps(names))
    assert (again, again.left_out) == (names, names.left_out)
