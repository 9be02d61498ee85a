"""States from Python: `make_state`, `open_state`, and what an open state can do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lawful
from lawful.common.errors import NotationError, SourceError, StateInUseError, UsageError
from lawful.runs.maintain import OpenState

PEOPLE = pa.table({"id": [1, 2, 3], "zip": ["10001", "94105", "94105"], "city": ["New York", "SF", "SF"]})
OAKLAND = pa.table({"id": [4], "zip": ["94105"], "city": ["Oakland"]})


@pytest.fixture
def state(tmp_path: Path) -> Iterator[OpenState]:
    with lawful.make_state(tmp_path / "people.state", PEOPLE, row_key=["id"], pins=["zip -> city"]) as made:
        yield made


def texts(laws: object) -> list[str]:
    return sorted(law.text for law in laws)  # type: ignore[attr-defined]  # whatever has a text


def test_the_laws_are_those_that_discover_finds(state: OpenState) -> None:
    assert texts(state.laws) == texts(lawful.discover(PEOPLE))
    now = pa.concat_tables([PEOPLE, OAKLAND])
    state.apply(OAKLAND)
    found, expected = state.laws, lawful.discover(now)
    assert texts(found) == texts(expected)
    assert [law.text for law in found] == [law.text for law in expected], "the same order of interest"
    assert found.to_dict()["stats"]["families"] == expected.to_dict()["stats"]["families"]
    assert lawful.check(now, found).holds


def test_a_batch_tells_which_laws_went_and_by_which_rows(state: OpenState) -> None:
    report = state.apply(OAKLAND, batch_id="first")
    assert (report.batch, report.version, report.rows, report.inserted) == ("first", 1, 4, 1)
    assert [law.text for law in report.removed] == ["zip -> city"]
    witness = report.removed[0].witness
    assert witness is not None
    assert [view.values["city"] for view in witness] == ["SF", "Oakland"]
    assert not report.holds
    assert (report.pins[0].text, report.pins[0].violating) == ("zip -> city", 3)
    assert report.to_dataframe()["law"].tolist() == ["zip -> city"]
    assert "zip -&gt; city" in report._repr_html_()
    assert json.loads(json.dumps(report.to_dict()))["batch"] == "first"
    assert str(report).splitlines()[-1] in repr(report)
    back = state.apply(deletes=pl.DataFrame({"id": [4]}))
    assert ([law.text for law in back.added], back.holds) == (["zip -> city"], True)


def test_changes_are_remembered(state: OpenState) -> None:
    state.apply(OAKLAND, batch_id="first")
    state.apply(deletes=pd.DataFrame({"id": [4, 1]}), batch_id="second")
    kept = [(entry["batch"], entry["version"], entry["inserted"], entry["deleted"]) for entry in state.changes]
    assert kept == [("first", 1, 1, 0), ("second", 2, 0, 2)]
    state.changes.clear()
    assert len(state.changes) == 2
    state.compact()
    with lawful.open_state(state.folder, writes=False) as reader:
        assert reader.changes == state.changes
        assert (reader.rows, reader.version) == (2, 2)
        assert reader.settings == state.settings


def test_laws_of_every_kind_can_be_pinned(state: OpenState) -> None:
    pins = ["{}: id asc ~ zip asc", "zip -> city", "key(zip)"]
    state.pin(pins)
    first = state.as_it_is()
    assert first.batch is None
    assert {pin.text: pin.holds for pin in first.pins} == {pins[0]: True, pins[1]: True, pins[2]: False}
    # A value that comes before all others has the least rank.
    report = state.apply(pa.table({"id": [4], "zip": ["00501"], "city": ["Holtsville"]}))
    assert {pin.text: pin.holds for pin in report.pins} == {pins[0]: False, pins[1]: True, pins[2]: False}
    with lawful.open_state(state.folder, writes=False) as reader:
        assert [pin.to_dict() for pin in reader.as_it_is().pins] == [pin.to_dict() for pin in report.pins]
    with pytest.raises(NotationError, match="nowhere"):
        state.pin(["zip -> nowhere"])
    assert len(state.as_it_is().pins) == 3


def test_no_batch_broke_a_law_that_was_broken_when_it_was_pinned(state: OpenState) -> None:
    state.pin(["key(zip)", "zip -> city"])
    state.apply(OAKLAND)
    with lawful.open_state(state.folder, writes=False) as reader:
        for one in (state, reader):
            assert [event["law"] for event in one.events() if event["event"] == "broke"] == ["zip -> city"]
            (life,) = (life.to_dict() for life in one.history() if life.to_dict()["law"] == "key(zip)")
            assert life["valid"] == []


def test_pinned_denial_constraints_see_the_order_of_new_values(tmp_path: Path) -> None:
    pins = ["not(t.age < 18)", "not(t.score < 1)", "not(t.day < '2020-01-01')", "not(t.id < s.id and t.age > s.age)"]
    first, new = tmp_path / "first.csv", tmp_path / "new.csv"
    first.write_text("id,age,score,day\n1,20,1.50,2020-01-01\n2,30,2,2021-01-01\n")
    new.write_text("id,age,score,day\n3,100,10.0,2020-01-01\n4,17,0.5,2019-12-31\n")
    with lawful.make_state(tmp_path / "state", first, pins=pins) as state:
        assert state.as_it_is().holds
        report = state.apply(new)
        assert [(pin.text, pin.holds) for pin in report.pins] == [(text, False) for text in pins]
        state.apply(delete_ids=[3])
        assert state.as_it_is().holds


def test_a_column_that_is_named_as_the_one_of_changes(tmp_path: Path) -> None:
    with lawful.make_state(tmp_path / "state", pa.table({"_op": ["a"], "x": [1]})) as state:
        with pytest.raises(UsageError, match="'_op' of its own"):
            state.apply(changes=pa.table({"_op": ["+"], "x": [2]}))
        assert state.apply(pa.table({"_op": ["+"], "x": [2]})).rows == 2


def test_only_one_can_write(state: OpenState) -> None:
    with pytest.raises(StateInUseError):
        lawful.open_state(state.folder)
    with (
        lawful.open_state(state.folder, writes=False) as reader,
        pytest.raises(UsageError, match="not open for writing"),
    ):
        reader.apply(OAKLAND)
    state.close()
    with pytest.raises(UsageError, match="not open for writing"):
        state.apply(OAKLAND)
    with lawful.open_state(state.folder) as other:
        assert other.apply(OAKLAND).rows == 4


def test_a_refused_batch_can_be_mended_and_given_again(state: OpenState) -> None:
    wrong = pa.table({"id": ["x"], "zip": ["94105"], "city": ["Oakland"]})
    with pytest.raises(SourceError, match="row 1: 'x' in column 'id' is not of its type, integer"):
        state.apply(wrong, batch_id="today")
    assert state.apply(OAKLAND, batch_id="today").version == 1
    assert state.apply(wrong, batch_id="today").was_known


def test_a_state_describes_itself(state: OpenState) -> None:
    shown = state.described(verify=True)
    assert (shown.laws, shown.is_right, shown.holds) == ({"key": 1, "fd": 4}, True, True)
    assert str(shown).startswith(f"{state.table.name}: 3 rows, 3 columns, version 0\n")
    assert repr(state) == f"<lawful state {str(state.folder)!r}: 3 rows, version 0>"


def test_pinned_laws_are_handed_on_where_a_state_keeps_no_others(tmp_path: Path) -> None:
    folder = tmp_path / "people.state"
    with lawful.make_state(folder, PEOPLE, pins=["zip -> city", "key(zip)"], only_pinned=True) as state:
        with pytest.raises(UsageError, match="keeps only pinned laws"):
            _ = state.laws
        entries = state.document()["dependencies"]
        assert [(entry["text"], entry["holds"]) for entry in entries] == [("zip -> city", True), ("key(zip)", False)]
        assert (entries[1]["violations"], len(entries[1]["witness"])) == ({"rows": 2, "pairs": 1}, 2)
        assert [query.law for query in lawful.export(state, to="sql").queries] == ["zip -> city", "key(zip)"]
    assert [query.law for query in lawful.export(folder, to="sql", top=1).queries] == ["zip -> city"]
    lawful.report(folder, out=tmp_path / "report.html")
    assert "key(zip)" in (tmp_path / "report.html").read_text()


def test_laws_within_an_error_are_kept_with_their_errors(tmp_path: Path) -> None:
    with lawful.make_state(tmp_path / "state", PEOPLE, "fd", error=0.4, measure="g3") as state:
        state.apply(OAKLAND)
        expected = lawful.discover(pa.concat_tables([PEOPLE, OAKLAND]), "fd", error=0.4, measure="g3")
        assert {law.text: law.error for law in state.laws} == {law.text: law.error for law in expected}


@pytest.mark.parametrize("wrong", [{"find": "od"}, {"evidence": "some"}, {"error": 2.0}, {"row_key": ["nowhere"]}])
def test_what_cannot_be_kept_is_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        lawful.make_state(tmp_path / "state", PEOPLE, **wrong)  # type: ignore[arg-type]  # wrong on purpose
    assert not (tmp_path / "state").exists()
