"""Planted errors are found and mended, and a clean table is left alone; on Spark as in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from damaged_tables import DAMAGED, NAMES, Damage, arrow, damaged, loss, orders, score, swap, typo
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import UsageError
from lawful.demo.tax_table import make_tax_table
from lawful.results import ErrorsReport


@pytest.mark.parametrize(
    ("damage", "precision", "recall", "mended"),
    [(typo, 0.97, 0.9, 0.9), (swap, 0.85, 0.85, 0.8), (loss, 0.97, 0.85, 0.85)],
)
def test_planted_errors_are_found(damage: Damage, precision: float, recall: float, mended: float) -> None:
    clean = orders()
    dirty = damaged(clean, DAMAGED, 0.02, damage)
    found = score(lawful.errors(arrow(dirty)), dirty, clean)
    assert found.precision >= precision
    assert found.recall >= recall
    assert found.mended >= mended


def test_a_tenth_of_all_cells_may_be_wrong() -> None:
    clean = orders()
    dirty = damaged(damaged(clean, DAMAGED, 0.05, typo), DAMAGED, 0.05, loss, seed=8)
    found = score(lawful.errors(arrow(dirty)), dirty, clean)
    assert found.precision >= 0.95
    assert found.recall >= 0.8


def test_a_clean_table_is_left_alone() -> None:
    report = lawful.errors(arrow(orders()))
    assert report.complete
    assert list(report) == []
    assert report.laws


def test_errors_of_the_demo_are_found() -> None:
    made = make_tax_table(3_000, errors=20)
    report = lawful.errors(made.table)
    planted = {(error.row, error.column) for error in made.errors}
    found = {(cell.row, cell.column) for cell in report}
    of_places = {cell for cell in planted if cell[1] in ("city", "state", "single_exemption", "married_exemption")}
    assert of_places
    assert of_places <= found
    assert len(found & planted) >= 0.8 * len(found)


def test_missing_values_are_not_looked_for_where_null_is_ignored() -> None:
    dirty = damaged(orders(), DAMAGED, 0.02, loss)
    assert any(cell.value is None for cell in lawful.errors(arrow(dirty)))
    assert list(lawful.errors(arrow(dirty), null="ignore")) == []


def test_typos_of_a_value_that_nearly_all_rows_have() -> None:
    rows = [["acute care"] for _ in range(97)] + [["acxte care"], ["dental"], [None]]
    report = lawful.errors(arrow(rows, ["type"]))
    assert [(cell.row, cell.value, cell.suggested) for cell in report] == [(97, "acxte care", "acute care")]
    numbers = pa.table({"n": [10_000] * 97 + [10_001, 10_010, 7]})
    assert list(lawful.errors(numbers)) == []


@pytest.mark.parametrize("table", [pa.table({"a": pa.array([], pa.string())}), pa.table({"a": [1]}), arrow(orders(2))])
def test_tables_with_nothing_to_say(table: pa.Table) -> None:
    report = lawful.errors(table)
    assert list(report) == []
    assert report.complete
    assert report.repaired().equals(table)


CELLS = st.sampled_from(["a", "b", "ab", "abcd", "abce", None])


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=40), st.sampled_from(["equal", "ignore"]))
def test_any_table_is_mended_as_it_is_said(rows: list[tuple[str | None, ...]], null: str) -> None:
    names = ["x", "y", "z"]
    table = arrow([list(row) for row in rows] * 3, names)
    report = lawful.errors(table, null=null, min_probability=0.05)
    assert report.complete
    changes = suggested(report)
    before, after = table.to_pylist(), report.repaired().to_pylist()
    assert after == [
        {name: changes.get((number, name), row[name]) for name in names} for number, row in enumerate(before)
    ]
    for cell in report:
        assert cell.value == before[cell.row][cell.column]
        assert cell.suggested != cell.value or cell.value is None
        assert null == "equal" or cell.value is not None


def test_the_least_probability_decides() -> None:
    dirty = arrow(damaged(orders(), DAMAGED, 0.05, swap))
    every = {cell.probability for cell in lawful.errors(dirty, min_probability=0.1)}
    assert min(every) >= 0.1
    sure = lawful.errors(dirty, min_probability=0.99)
    assert {cell.probability for cell in sure} == {p for p in every if p >= 0.99}
    with pytest.raises(UsageError, match="probability"):
        lawful.errors(dirty, min_probability=0.0)


def test_a_time_limit_ends_it() -> None:
    report = lawful.errors(arrow(damaged(orders(), DAMAGED, 0.02, typo)), time_limit=1e-9)
    assert not report.complete
    assert report.stopped_because is not None
    assert "time limit" in str(report)


def test_what_a_report_shows() -> None:
    dirty = arrow(damaged(orders(), DAMAGED, 0.02, typo))
    report = lawful.errors(dirty)
    document = report.to_dict()
    assert document["format"] == "lawful/1"
    cell = document["cells"][0]
    expected = {"row", "file", "line", "column", "value", "suggested", "probability", "laws"}
    assert cell.keys() == expected
    assert cell["value"] == dirty[cell["column"]][cell["row"]].as_py()
    assert cell["line"] == cell["row"] + 1
    assert json.loads(json.dumps(document)) == document
    frame = report.to_dataframe()
    assert len(frame) == len(report)
    assert list(frame.columns) == list(cell)
    assert "probably wrong" in repr(report)
    assert "<td>" in report._repr_html_()
    probabilities = [each.probability for each in report]
    assert probabilities == sorted(probabilities, reverse=True)


def suggested(report: ErrorsReport) -> dict[tuple[int, str], str]:
    return {(cell.row, cell.column): cell.suggested for cell in report if cell.suggested is not None}


def test_repaired_frames_are_of_the_sources_own_kind() -> None:
    rows = damaged(orders(), DAMAGED, 0.02, typo)
    table = arrow(rows)
    pieces = pa.array([int(row[9] or 0) for row in rows])
    table = table.set_column(9, "pieces", pieces)
    frame = table.to_pandas()
    frame.index = pd.Index(range(100, 100 + len(frame)))
    for source, to_rows in (
        (table, lambda found: found.to_pylist()),
        (frame, lambda found: found.to_dict("records")),
        (pl.from_arrow(table), lambda found: found.to_dicts()),
    ):
        report = lawful.errors(source)
        changes = suggested(report)
        assert changes
        mended = report.repaired()
        assert type(mended) is type(source)
        before, after = to_rows(source), to_rows(mended)
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            for name in NAMES:
                assert new[name] == changes.get((number, name), old[name])
        apart = to_rows(report.suspicious_rows())
        assert apart == [before[row] for row in report.rows]
    assert list(mended.columns) == NAMES
    assert lawful.errors(frame).repaired().index.equals(frame.index)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_typed_files_are_mended_in_their_format(tmp_path: Path, ending: str) -> None:
    source, target = tmp_path / f"orders.{ending}", tmp_path / f"mended.{ending}"
    table = arrow(damaged(orders(), DAMAGED, 0.02, typo)).append_column("stock", pa.array([n % 7 for n in range(900)]))
    if ending == "parquet":
        pa.parquet.write_table(table, source)
    else:
        source.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    report = lawful.errors(source)
    report.write_repaired(target)
    mended = (
        pa.parquet.read_table(target).to_pylist()
        if ending == "parquet"
        else [json.loads(line) for line in target.read_text().splitlines()]
    )
    changes = suggested(report)
    for number, (old, new) in enumerate(zip(table.to_pylist(), mended, strict=True)):
        assert new == {name: changes.get((number, name), value) for name, value in old.items()}
    assert len((tmp_path / f"mended.{ending}.log.jsonl").read_text().splitlines()) == len(changes)


def test_a_folder_of_files_becomes_a_folder(tmp_path: Path) -> None:
    table = arrow(damaged(orders(), DAMAGED, 0.02, typo))
    for ending, write in (("parquet", pa.parquet.write_table), ("csv", pa.csv.write_csv)):
        folder = tmp_path / ending
        folder.mkdir()
        write(table.slice(0, 400), folder / f"a.{ending}")
        write(table.slice(400), folder / f"b.{ending}")
        report = lawful.errors(folder)
        report.write_repaired(tmp_path / f"mended-{ending}")
        assert lawful.open(tmp_path / f"mended-{ending}").profile().rows == 900
        again = lawful.errors(tmp_path / f"mended-{ending}")
        assert len(again) < 0.1 * len(report)


def test_spark_finds_and_mends_the_same(spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lawful.engines import spark as engine

    monkeypatch.setattr(engine, "_WORTH_OPINION_JOBS", 0)
    table = arrow(damaged(orders(), DAMAGED, 0.02, typo))
    here = lawful.errors(table)
    frame = spark.createDataFrame(table.to_pandas()).repartition(3, "order").localCheckpoint()
    there = lawful.errors(frame)
    rows = [row.asDict() for row in frame.collect()]
    place = {row["order"]: number for number, row in enumerate(table.to_pylist())}
    found = {(place[rows[cell.row]["order"]], cell.column): cell.suggested for cell in there}
    assert found == {(cell.row, cell.column): cell.suggested for cell in here}
    mended = {row["order"]: row.asDict() for row in there.repaired().collect()}
    assert mended == {row["order"]: row for row in here.repaired().to_pylist()}
    assert {row["order"] for row in there.suspicious_rows().collect()} == {
        row["order"] for row in here.suspicious_rows().to_pylist()
    }
    there.write_repaired(tmp_path / "mended")
    assert {row["order"]: row for row in pa.parquet.read_table(tmp_path / "mended").to_pylist()} == mended
    assert len((tmp_path / "mended.log.jsonl").read_text().splitlines()) == len(there.changes())
