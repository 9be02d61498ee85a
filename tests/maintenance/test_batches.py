"""Batches: what comes, what leaves, what is refused, whatever they are read from."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lawful
from lawful.common.errors import LawfulError, SourceError, UsageError
from lawful.runs.maintain import OpenState
from lawful.tables.options import CsvDialect

Rows = list[dict[str, Any]]
PEOPLE: Rows = [
    {"id": 1, "name": "Ann", "score": 1.5, "since": datetime.date(2020, 1, 2), "old": True},
    {"id": 2, "name": None, "score": 20.0, "since": datetime.date(2021, 3, 4), "old": False},
    {"id": 3, "name": "Eve", "score": None, "since": None, "old": None},
]
NEW: Rows = [
    {"id": 5, "name": "Bob", "score": 0.25, "since": datetime.date(2019, 1, 1), "old": False},
    {"id": 4, "name": None, "score": None, "since": None, "old": None},
]
SHOWN = {1: ("1", "Ann", "1.5", "2020-01-02", "true"), 3: ("3", "Eve", None, None, None)}


def as_csv(rows: Rows, folder: Path) -> Path:
    path = folder / f"rows{len(list(folder.iterdir()))}.csv"
    lines = [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
    path.write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    return path


def as_json_lines(rows: Rows, folder: Path) -> Path:
    path = folder / f"rows{len(list(folder.iterdir()))}.jsonl"
    path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))
    return path


def as_parquet(rows: Rows, folder: Path) -> Path:
    path = folder / f"rows{len(list(folder.iterdir()))}.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def as_arrow(rows: Rows, _: Path) -> pa.Table:
    return pa.Table.from_pylist(rows)


def as_pandas(rows: Rows, _: Path) -> pd.DataFrame:
    """As pandas likes it: integers and dates with nulls become floats and timestamps."""
    frame = pd.DataFrame(rows)
    frame["id"] = frame["id"].astype("float64")
    frame["since"] = pd.to_datetime(frame["since"])
    return frame


def as_polars(rows: Rows, _: Path) -> pl.DataFrame:
    return pl.DataFrame(rows)


FORMS: list[Callable[[Rows, Path], Any]] = [as_csv, as_json_lines, as_parquet, as_arrow, as_pandas, as_polars]


@pytest.fixture(params=FORMS, ids=[form.__name__ for form in FORMS])
def form(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Rows], Any]:
    folder = tmp_path / "sources"
    folder.mkdir()
    return lambda rows: request.param(rows, folder)


@pytest.fixture
def people(tmp_path: Path) -> Iterator[OpenState]:
    """A state of people, from CSV."""
    (tmp_path / "first").mkdir()
    with lawful.make_state(tmp_path / "people.state", as_csv(PEOPLE, tmp_path / "first"), "key") as state:
        yield state


def shown(state: OpenState) -> list[tuple[str | None, ...]]:
    """The rows as texts."""
    table = state.table
    return [tuple(table.value(row, column) for column in range(table.width)) for row in range(table.rows)]


def written(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def csv(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


class TestEveryForm:
    def test_rows_come_and_leave_by_their_values(self, form: Callable[[Rows], Any], people: OpenState) -> None:
        report = people.apply(form(NEW), form(PEOPLE[1:2]))
        assert (report.inserted, report.deleted, report.rows) == (2, 1, 4)
        assert shown(people) == [
            SHOWN[1],
            SHOWN[3],
            ("5", "Bob", "0.25", "2019-01-01", "false"),
            ("4", None, None, None, None),
        ]

    def test_changes_hold_both(self, form: Callable[[Rows], Any], people: OpenState) -> None:
        changes = [{**PEOPLE[1], "_op": "-"}, {**NEW[0], "_op": "+"}, {**PEOPLE[1], "_op": "+"}]
        report = people.apply(changes=form(changes))
        assert (report.inserted, report.deleted) == (2, 1)
        assert [row[0] for row in shown(people)] == ["1", "3", "5", "2"]

    def test_a_value_that_does_not_fit_is_refused_and_nothing_changes(
        self, form: Callable[[Rows], Any], people: OpenState
    ) -> None:
        before = written(people.folder)
        with pytest.raises(SourceError, match=r"[23]: '7\.25' in column 'id' is not of its type, integer") as raised:
            people.apply(form([NEW[0], {**NEW[1], "id": 7.25}]), form(PEOPLE[:1]))
        assert raised.value.hint is not None
        assert "Nothing was changed" in raised.value.hint
        assert written(people.folder) == before
        assert people.apply(form(NEW), form(PEOPLE[:1])).rows == 4

    def test_rows_that_do_not_fit_are_left_out(self, form: Callable[[Rows], Any], people: OpenState) -> None:
        report = people.apply(form([{**NEW[0], "id": 7.25}, NEW[1]]), misfits="quarantine")
        assert (report.inserted, report.rows) == (1, 4)
        (left_out,) = report.quarantined
        assert (left_out.column, left_out.value, left_out.type) == ("id", "7.25", "integer")
        assert shown(people)[-1] == ("4", None, None, None, None)

    def test_a_column_is_widened_to_text(self, form: Callable[[Rows], Any], people: OpenState) -> None:
        people.apply(form([{**NEW[0], "id": 7.25}]), misfits="widen")
        assert people.table.type(0) == "string"
        assert [row[0] for row in shown(people)] == ["1", "2", "3", "7.25"]
        with lawful.open_state(people.folder, writes=False) as reader:
            assert reader.table.type(0) == "string"
            assert shown(reader) == shown(people)

    def test_other_columns_are_refused_with_their_names(self, form: Callable[[Rows], Any], people: OpenState) -> None:
        fewer = [{name: value for name, value in row.items() if name not in ("name", "old")} for row in NEW]
        before = written(people.folder)
        with pytest.raises(LawfulError, match=r"'name', 'old'"):
            people.apply(form([{**row, "since": row["since"]} for row in fewer]))
        with pytest.raises(SourceError, match=r"has new column 'more'"):
            people.apply(form([{**row, "more": 1} for row in NEW]))
        assert written(people.folder) == before

    def test_columns_may_come_in_another_order(self, form: Callable[[Rows], Any], people: OpenState) -> None:
        turned = [dict(reversed(row.items())) for row in NEW]
        people.apply(form(turned))
        assert shown(people)[3:] == [
            ("5", "Bob", "0.25", "2019-01-01", "false"),
            ("4", None, None, None, None),
        ]

    def test_rows_to_delete_that_are_not_there(self, form: Callable[[Rows], Any], people: OpenState) -> None:
        gone = [PEOPLE[0], {**PEOPLE[0], "name": "Bob"}]
        with pytest.raises(SourceError, match=r"no row has the values id = 1.*name = Bob"):
            people.apply(deletes=form(gone))
        report = people.apply(deletes=form(gone), missing="skip")
        assert (report.deleted, report.missing, report.rows) == (1, 1, 2)

    def test_a_state_can_be_made_of_it_and_go_on_with_csv(self, form: Callable[[Rows], Any], tmp_path: Path) -> None:
        (tmp_path / "csv").mkdir()
        with lawful.make_state(tmp_path / "state", form(PEOPLE)) as state:
            assert state.apply(as_csv(NEW, tmp_path / "csv"), as_csv(PEOPLE[:2], tmp_path / "csv")).rows == 3
            assert [row[1] for row in shown(state)] == ["Eve", "Bob", None]


class TestValues:
    def test_spellings_of_one_value_are_one_value(self, tmp_path: Path) -> None:
        first = csv(tmp_path / "a.csv", "n,t", "1.50,2020-01-01T00:00Z", "2,2020-01-01T12:00:00+02:00")
        with lawful.make_state(tmp_path / "state", first) as state:
            report = state.apply(csv(tmp_path / "b.csv", "n,t", "01.5000,2020-01-01 01:00+01:00"))
            assert [law.text for law in report.removed] == ["key(n)", "key(t)"]
            state.apply(deletes=csv(tmp_path / "c.csv", "n,t", "15e-1,2019-12-31T23:00-01"))
            state.apply(deletes=csv(tmp_path / "d.csv", "t,n", "2020-01-01 10:00Z,2.00"))
            assert shown(state) == [("1.5", "2020-01-01 00:00:00Z")]

    def test_zoned_timestamps_of_pandas_fit_and_others_do_not(self, tmp_path: Path) -> None:
        first = csv(tmp_path / "a.csv", "t", "2020-01-01T00:00Z")
        stamps = pd.to_datetime(["2020-01-01 01:00", "2020-06-01 02:00"])
        with lawful.make_state(tmp_path / "state", first) as state:
            with pytest.raises(SourceError, match="not of its type, timestamp"):
                state.apply(pd.DataFrame({"t": stamps}))
            state.apply(pd.DataFrame({"t": stamps.tz_localize("Europe/Berlin")}))
            assert [row[0] for row in shown(state)] == [
                "2020-01-01 00:00:00Z",
                "2020-01-01 00:00:00Z",
                "2020-06-01 00:00:00Z",
            ]

    def test_times_do_not_fit_into_dates(self, people: OpenState) -> None:
        frame = as_pandas(NEW, Path())
        frame["since"] = pd.to_datetime(["2019-01-01 00:00", "2019-01-01 13:30"])
        with pytest.raises(SourceError, match="'2019-01-01 13:30:00' in column 'since' is not of its type, date"):
            people.apply(frame)

    def test_dates_that_pandas_writes_fit_into_its_timestamps(self, tmp_path: Path) -> None:
        frame = pd.DataFrame({"t": pd.to_datetime(["2020-01-01", "2020-01-02"])})
        frame.to_csv(tmp_path / "days.csv", index=False)
        with lawful.make_state(tmp_path / "state", frame) as state:
            state.apply(deletes=tmp_path / "days.csv")
            assert state.rows == 0

    def test_null_tokens_are_pinned(self, tmp_path: Path) -> None:
        first = csv(tmp_path / "a.csv", "a,b", "1,NA", "NA,x")
        dialect = CsvDialect(null_tokens=("NA",))
        with lawful.make_state(tmp_path / "state", first, dialect=dialect) as state:
            state.apply(csv(tmp_path / "b.csv", "a,b", "NA,NA"))
            state.apply(csv(tmp_path / "c.csv", "a;b", "2;NA"), dialect=CsvDialect(separator=";"))
            state.apply(deletes=csv(tmp_path / "d.csv", "a,b", ",x"))
            assert shown(state) == [("1", None), (None, None), ("2", None)]

    @pytest.mark.parametrize("null", ["equal", "ignore"])
    def test_null_means_what_was_settled(self, tmp_path: Path, null: str) -> None:
        first = csv(tmp_path / "a.csv", "a,b", "1,x", ",y")
        with lawful.make_state(tmp_path / "state", first, null=null, pins=["key(a)", "a -> b"]) as state:
            report = state.apply(csv(tmp_path / "b.csv", "a,b", ",z"))
            assert [pin.holds for pin in report.pins] == [null == "ignore"] * 2
            assert report.holds == (null == "ignore")

    def test_a_column_of_nulls_gets_its_type_with_the_first_values(self, tmp_path: Path) -> None:
        first = csv(tmp_path / "a.csv", "a,b,c", "1,,", "2,,")
        with lawful.make_state(tmp_path / "state", first) as state:
            state.apply(csv(tmp_path / "b.csv", "a,b,c", "3,,"))
            state.apply(csv(tmp_path / "c.csv", "a,b,c", "4,2020-01-02,", "5,,"))
            assert [state.table.type(column) for column in range(3)] == ["integer", "date", "null"]
            with pytest.raises(SourceError, match="'x' in column 'b' is not of its type, date"):
                state.apply(csv(tmp_path / "d.csv", "a,b,c", "6,x,"))
            state.apply(pa.table({"a": [7], "b": pa.array([None], pa.date32()), "c": ["8"]}))
            assert state.table.type(2) == "string"  # a typed source says so itself
        with lawful.open_state(tmp_path / "state") as state:
            state.apply(csv(tmp_path / "e.csv", "a,b,c", "8,2019-01-01,x"))
            assert shown(state)[-1] == ("8", "2019-01-01", "x")

    def test_first_values_that_are_refused_leave_the_column_without_a_type(self, tmp_path: Path) -> None:
        with lawful.make_state(tmp_path / "state", csv(tmp_path / "a.csv", "a,b", "1,"), row_key=["a"]) as state:
            with pytest.raises(SourceError, match="the key a = 1 is there already"):
                state.apply(csv(tmp_path / "b.csv", "a,b", "1,2020-01-01"))
            state.apply(csv(tmp_path / "c.csv", "a,b", "2,true"))
            assert state.table.type(1) == "boolean"


class TestKeys:
    @pytest.fixture
    def keyed(self, tmp_path: Path) -> Iterator[OpenState]:
        first = csv(tmp_path / "first.csv", "id,v", "1,a", "2,b", "3,b")
        with lawful.make_state(tmp_path / "state", first, row_key=["id"]) as state:
            yield state

    def test_rows_are_deleted_by_their_key_alone(self, keyed: OpenState, tmp_path: Path) -> None:
        keyed.apply(deletes=csv(tmp_path / "b.csv", "note,id", "why,2"))
        keyed.apply(changes=csv(tmp_path / "c.csv", "id,v,_op", "3,other,-"))
        assert shown(keyed) == [("1", "a")]

    def test_a_key_comes_once(self, keyed: OpenState, tmp_path: Path) -> None:
        before = written(keyed.folder)
        with pytest.raises(
            SourceError, match=r"b\.csv, line 3: the key id = 2 is there already: .*first\.csv.* line 3"
        ):
            keyed.apply(csv(tmp_path / "b.csv", "id,v", "4,x", "2,x"))
        with pytest.raises(SourceError, match="another row of the batch has it"):
            keyed.apply(csv(tmp_path / "c.csv", "id,v", "4,x", "4,x"))
        assert written(keyed.folder) == before
        keyed.apply(csv(tmp_path / "d.csv", "id,v", "4,x"))
        assert keyed.rows == 4

    def test_a_row_is_changed_by_deleting_and_inserting_it(self, keyed: OpenState, tmp_path: Path) -> None:
        report = keyed.apply(changes=csv(tmp_path / "b.csv", "id,v,_op", "2,new,+", "2,,-", "1,a,-", "1,a,+"))
        assert (report.inserted, report.deleted) == (2, 2)
        assert sorted(shown(keyed)) == [("1", "a"), ("2", "new"), ("3", "b")]

    def test_a_key_that_is_not_there(self, keyed: OpenState, tmp_path: Path) -> None:
        for value in ("9", "x"):  # one that could be there, and one that could not
            with pytest.raises(SourceError, match=rf"line 2: no row has the key id = {value}"):
                keyed.apply(deletes=csv(tmp_path / "b.csv", "id", value))
        assert keyed.apply(deletes=csv(tmp_path / "c.csv", "id", "9", "x", "1"), missing="skip").missing == 2
        with pytest.raises(SourceError, match="no row has the key id = 3"):
            keyed.apply(deletes=csv(tmp_path / "d.csv", "id", "3", "3"))
        assert keyed.rows == 2


class TestIds:
    def test_rows_are_deleted_by_id(self, people: OpenState) -> None:
        people.apply(delete_ids=[1])
        assert [row[0] for row in shown(people)] == ["1", "3"]
        for ids in ([1, 0], [7], [-1], [2**70]):
            with pytest.raises(SourceError, match=f"no row with the id {ids[0]}"):
                people.apply(delete_ids=ids)
        assert people.apply(delete_ids=[1, 2**70, 0], missing="skip").missing == 2
        assert [row[0] for row in shown(people)] == ["3"]

    def test_a_row_is_deleted_once(self, people: OpenState) -> None:
        with pytest.raises(SourceError, match="deletes a row twice"):
            people.apply(deletes=pa.Table.from_pylist(PEOPLE[:1]), delete_ids=[0])
        with pytest.raises(SourceError, match="deletes a row twice"):
            people.apply(delete_ids=[0, 0])
        assert people.rows == 3

    def test_ids_and_places_stay_over_compactions(self, tmp_path: Path) -> None:
        ids: dict[str, int] = {}
        path = tmp_path / "state"
        lawful.make_state(path, csv(tmp_path / "first.csv", "v", *"abcdef"), "key").close()
        batches = [(["g", "h"], [5]), (["i"], [0, 2, 8]), (["j", "k", "l"], [11, 10]), (["m"], [])]
        for number, (come, gone) in enumerate(batches):
            with lawful.open_state(path) as state:
                state.apply(csv(tmp_path / f"batch{number}.csv", "v", *come))
                state.apply(delete_ids=gone)
                living = state._state.table
                live = living.live_rows()
                for text, row_id, row in zip(
                    living.texts(live, 0).to_pylist(), living.ids_of(live).tolist(), live.tolist(), strict=True
                ):
                    assert ids.setdefault(text, row_id) == row_id
                    place = living.place(row)
                    assert Path(place.file or "").read_text().splitlines()[place.number - 1] == text
                    assert state.table.place(live.tolist().index(row)) == place
                state.compact()
        assert sorted(ids.values()) == sorted(set(ids.values()))
        with lawful.open_state(path, writes=False) as state:
            assert [row[0] for row in shown(state)] == ["b", "d", "e", "g", "h", "j", "m"]


class TestRareBatches:
    def test_an_empty_one_changes_no_row(self, people: OpenState, tmp_path: Path) -> None:
        report = people.apply(csv(tmp_path / "b.csv", "id,name,score,since,old"))
        assert (report.version, report.inserted, report.rows) == (1, 0, 3)
        report = people.apply(pd.DataFrame(PEOPLE)[:0])
        assert (report.version, report.inserted, report.rows) == (2, 0, 3)

    def test_all_rows_leave_and_others_come(self, people: OpenState, tmp_path: Path) -> None:
        people.apply(deletes=pa.Table.from_pylist(PEOPLE))
        assert (people.rows, [law.text for law in people.laws]) == (0, ["key()"])
        people.compact()
        people.apply(pa.Table.from_pylist(NEW))
        with lawful.open_state(people.folder, writes=False) as reader:
            assert [row[0] for row in shown(reader)] == ["5", "4"]
            assert reader.described(verify=True).is_right

    def test_equal_rows_leave_one_by_one(self, tmp_path: Path) -> None:
        with lawful.make_state(tmp_path / "state", csv(tmp_path / "a.csv", "v", *"xxxyx")) as state:
            one = pa.table({"v": ["x"]})
            for left in (4, 3):
                assert state.apply(deletes=one).rows == left
            with pytest.raises(SourceError, match="no row has the values v = x"):
                state.apply(deletes=pa.table({"v": ["x"] * 3}))
            assert state.apply(deletes=pa.table({"v": ["x"] * 3}), missing="skip").missing == 1
            assert shown(state) == [("y",)]

    def test_one_that_was_seen_changes_not_a_byte(self, people: OpenState, tmp_path: Path) -> None:
        path = csv(tmp_path / "b.csv", "id,name,score,since,old", "9,,,,")
        first = people.apply(path)
        before = written(people.folder)
        again = people.apply(path)
        assert (again.was_known, again.batch, again.version, again.inserted) == (True, first.batch, 1, 0)
        people.apply(pa.Table.from_pylist(NEW), batch_id=first.batch)
        assert written(people.folder) == before
        people.apply(pa.Table.from_pylist(NEW), batch_id="mine")
        people.compact()
        before = written(people.folder)
        with lawful.open_state(people.folder, writes=False) as reader:
            assert [entry["batch"] for entry in reader.changes] == [first.batch, "mine"]
        assert people.apply(pa.Table.from_pylist(NEW), batch_id="mine").was_known
        assert written(people.folder) == before

    def test_chosen_columns_stay_chosen(self, tmp_path: Path) -> None:
        first = csv(tmp_path / "a.csv", "a,b,c", "1,2,3")
        with lawful.make_state(tmp_path / "state", first, columns=["c", "a"]) as state:
            state.apply(csv(tmp_path / "b.csv", "a,x,c", "4,5,6"))
            state.apply(changes=csv(tmp_path / "c.csv", "c,_op,a,y", "3,-,1,9"))
            assert shown(state) == [("6", "4")]
            with pytest.raises(UsageError, match="has no column 'c'"):
                state.apply(csv(tmp_path / "d.csv", "a,b", "1,2"))

    def test_files_without_a_header(self, tmp_path: Path) -> None:
        with lawful.make_state(
            tmp_path / "state", csv(tmp_path / "a.csv", "1,x", "2,y"), dialect=CsvDialect(header=False)
        ) as state:
            state.apply(csv(tmp_path / "b.csv", "3,z"), csv(tmp_path / "c.csv", "1,x"))
            assert shown(state) == [("2", "y"), ("3", "z")]

    @pytest.mark.parametrize("operation", ["x", "", "insert"])
    def test_changes_say_what_becomes_of_a_row(self, people: OpenState, tmp_path: Path, operation: str) -> None:
        with pytest.raises(SourceError, match=r"b\.csv, line 3: .* in column '_op' says neither \+ nor -"):
            people.apply(
                changes=csv(tmp_path / "b.csv", "id,name,score,since,old,_op", "7,,,,,+", f"8,,,,,{operation}")
            )
        with pytest.raises(LawfulError, match="has no column '_op'"):
            people.apply(changes=csv(tmp_path / "c.csv", "id,name,score,since,old", "7,,,,"))
        with pytest.raises(UsageError, match="holds all of a batch"):
            people.apply(pa.Table.from_pylist(NEW), changes=pa.Table.from_pylist(NEW))

    @pytest.mark.parametrize("wrong", [{"misfits": "drop"}, {"missing": "drop"}])
    def test_unknown_outcomes_are_refused(self, people: OpenState, wrong: dict[str, Any]) -> None:
        with pytest.raises(UsageError, match="unknown outcome 'drop'"):
            people.apply(deletes=pa.Table.from_pylist(PEOPLE[:1]), **wrong)
        assert people.rows == 3

    def test_files_that_cannot_be_read(self, people: OpenState, tmp_path: Path) -> None:
        with pytest.raises(LawfulError, match=r"not\.csv"):
            people.apply(tmp_path / "not.csv")
        with pytest.raises(LawfulError, match="line 3"):
            people.apply(csv(tmp_path / "b.csv", "id,name,score,since,old", "1,,,,", "1,2"))
        assert people.rows == 3


def test_older_versions_stay_known_until_a_compaction(tmp_path: Path) -> None:
    from lawful.tables.living.live_view import LiveView

    steps: Sequence[tuple[list[str], list[str]]] = [(["d", "0"], ["b"]), ([], ["a", "0"]), (["b", "b"], [])]
    with lawful.make_state(tmp_path / "state", csv(tmp_path / "a.csv", "v", *"abc")) as state:
        rows = [list("abc")]
        for come, gone in steps:
            state.apply(pa.table({"v": pa.array(come, pa.string())}), pa.table({"v": pa.array(gone, pa.string())}))
            rows.append([value for value in rows[-1] if value not in gone] + come)
    with lawful.open_state(tmp_path / "state") as state:
        for version, expected in enumerate(rows):
            view = LiveView.of(state._state.table, version)
            assert [view.value(row, 0) for row in range(view.rows)] == expected
            assert view.values(0).to_pylist() == sorted(set(expected))
        for unknown in (-1, 4):
            with pytest.raises(UsageError, match=f"version {unknown} of a.csv is not known"):
                LiveView.of(state._state.table, unknown)
        state.compact()
    with lawful.open_state(tmp_path / "state") as state, pytest.raises(UsageError, match="versions 3 to 3"):
        LiveView.of(state._state.table, 2)


def test_what_comes_first_in_dates_is_settled_when_the_state_is_made(tmp_path: Path) -> None:
    (tmp_path / "first.csv").write_text("id,day,at\n1,31/12/2023,09:00\n2,01/02/2024,10:30:00\n")
    (tmp_path / "more.csv").write_text("id,day,at\n3,03/04/2024,11:00\n4,03.04.2024,11:00:00.0\n5,2024-04-03,11:00\n")
    with lawful.make_state(tmp_path / "state", tmp_path / "first.csv", ("key", "fd")) as state:
        pass
    with lawful.open_state(tmp_path / "state") as state:
        state.apply(tmp_path / "more.csv")
        assert [row[1:] for row in shown(state)] == [
            ("2023-12-31", "09:00:00"),
            ("2024-02-01", "10:30:00"),
            *[("2024-04-03", "11:00:00")] * 3,
        ]
