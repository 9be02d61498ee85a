"""Laws that leave a result and come back: bound to names, to what null meant, to the error they were found within."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cli.result_documents import check_document
from discovered_tables import TABLE
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import SourceError, UsageError
from lawful.common.meanings import Allowance, NullPolicy
from lawful.dependencies import DC, FD, Cell, Key, NamedLaw, Predicate

PEOPLE = pa.table(
    {
        "name": ["Ann", "Bob", "Eve", "Dan", "Kim"],
        "zip": ["10001", "10001", "10001", "02139", "02139"],
        "city": ["New York", "New York", "Newark", "Cambridge", "Cambridge"],
        "state": ["NY", "NY", "NY", "MA", "MA"],
    }
)
PLACES = ["zip", "city", "state"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def _texts(checked: Any) -> list[str]:
    return [outcome.text for outcome in checked.outcomes]


# Names


def test_laws_found_on_some_columns_are_checked_on_these_columns_of_the_whole_table() -> None:
    found = lawful.discover(PEOPLE, columns=PLACES)
    texts = [law.text for law in found]
    assert "city -> zip" in texts
    for given_as in ([law.law for law in found], list(found), found, (law for law in found), found.to_dict()):
        checked = lawful.check(PEOPLE, given_as)
        assert _texts(checked) == texts
        assert checked.holds
    turned = PEOPLE.select(["state", "name", "city", "zip"])
    assert lawful.check(turned, found).holds
    assert [outcome.law for outcome in lawful.check(turned, found).outcomes] == [law.law for law in found]


def test_a_table_without_the_columns_refuses() -> None:
    found = lawful.discover(PEOPLE, columns=PLACES)
    with pytest.raises(UsageError) as refusal:
        lawful.check(PEOPLE.rename_columns(["name", "zip", "town", "state"]), found)
    assert 'There is no column named "city".' in refusal.value.message
    with pytest.raises(UsageError, match="There are no columns named"):
        lawful.check(PEOPLE.rename_columns(["name", "Zip", "City", "State"]), [law.law for law in found])


def test_outcomes_and_explanations_give_laws_back() -> None:
    checked = lawful.check(PEOPLE, ["zip -> city", "key(name)"])
    again = lawful.check(PEOPLE.select(["city", "zip", "name"]), checked.outcomes)
    assert _texts(again) == ["zip -> city", "key(name)"]
    assert _texts(lawful.check(PEOPLE, checked)) == ["zip -> city", "key(name)"]
    law = checked.outcomes[0].law
    assert isinstance(law, NamedLaw)
    why = lawful.explain(PEOPLE, checked.outcomes[0])
    assert (why.law, why.holds, why.group_count()) == (law, False, 1)
    assert lawful.explain(PEOPLE, law).text == lawful.explain(PEOPLE, "zip -> city").text
    assert checked.violations(law).num_rows == checked.violations(checked.outcomes[0]).num_rows == 3
    with pytest.raises(UsageError, match="one law is explained at a time, and these are 2"):
        lawful.explain(PEOPLE, checked.outcomes)


@pytest.mark.parametrize("law", [Key((0,)), FD((1,), 2), DC((Predicate(Cell("t", 0), "=", Cell("s", 0)),))])
def test_laws_over_positions_are_refused(law: Any) -> None:
    for given_as in (law, [law], ["zip -> city", law]):
        with pytest.raises(UsageError, match="by their positions") as refusal:
            lawful.check(PEOPLE, given_as)
        assert "lawful.NamedLaw(law, names)" in str(refusal.value)
    with pytest.raises(UsageError, match="by their positions"):
        lawful.explain(PEOPLE, law)
    with pytest.raises(UsageError, match="bound to names"):
        lawful.rewrite("select * from t order by name, zip", [law], PEOPLE.column_names)
    assert len(lawful.check(PEOPLE, NamedLaw(law, PEOPLE.column_names)).outcomes) == 1


def test_a_rewriting_takes_what_was_found() -> None:
    found = lawful.discover(PEOPLE, "fd", columns=PLACES)
    asked = "select * from t order by zip, state"
    one = next(law.law for law in found if law.text == "zip -> state")
    for laws in (found, found.to_dict(), one, [one], lawful.check(PEOPLE, found)):
        assert lawful.rewrite(asked, laws).sql == "select * from t order by zip"
    assert lawful.rewrite(asked, [one], ["state", "zip"]).changed
    almost = lawful.check(PEOPLE, "zip -> city", error=0.5)
    assert almost.holds
    refused = lawful.rewrite("select * from t order by zip, city", almost)
    assert not refused.changed
    assert any("true only within an error" in sentence for sentence in refused.refused)


# Documents and files


def test_what_is_saved_is_loaded_and_checked() -> None:
    found = lawful.discover(PEOPLE, columns=PLACES, null="ignore")
    found.save("laws.json")
    saved = lawful.load("laws.json")
    assert saved.to_dict() == json.loads(json.dumps(found.to_dict()))
    assert [(law.law, law.text) for law in saved] == [(law.law, law.text) for law in found]
    assert [law.interest for law in saved] == pytest.approx([law.interest for law in found])
    assert [law.law for law in saved.fds()] == [law.law for law in found.fds()]
    assert (len(saved), saved.complete, saved.stopped_because) == (len(found), True, None)
    assert (saved.null_policy, saved.error, saved.measure) == (NullPolicy.IGNORE, 0.0, None)
    assert f"{len(found)} saved laws" in saved._repr_html_()
    saved.save(Path("again.json"))
    assert Path("again.json").read_text() == Path("laws.json").read_text()
    assert sorted(path.name for path in Path().glob("*laws*")) == ["laws.json"]
    for given_as in (saved, "laws.json", Path("laws.json"), list(saved), [Path("laws.json")]):
        checked = lawful.check(PEOPLE, given_as)
        assert checked.null_policy is NullPolicy.IGNORE
        assert _texts(checked) == [law.text for law in found]


def test_files_of_laws_are_read_as_the_command_line_reads_them() -> None:
    Path("laws.txt").write_text("# places\nzip -> city, state\n")
    Path("laws.json.partial").write_text('"zip -> state"\n"key(na')
    assert _texts(lawful.check(PEOPLE, Path("laws.txt"))) == ["zip -> city", "zip -> state"]
    assert _texts(lawful.check(PEOPLE, ["laws.txt", "key(name)"])) == ["zip -> city", "zip -> state", "key(name)"]
    assert _texts(lawful.check(PEOPLE, "laws.json.partial")) == ["zip -> state"]
    for missing in ("no.json", Path("no.json"), Path("zip -> city")):
        with pytest.raises(UsageError, match="there is no such file of laws"):
            lawful.check(PEOPLE, missing)


def test_a_document_without_a_table_is_over_the_names_of_its_laws() -> None:
    laws = [
        {"kind": "fd", "lhs": ["city"], "rhs": "zip"},
        {"kind": "pod", "lhs": [["zip", "<"]], "rhs": ["name", "<="]},
    ]
    Path("laws.json").write_text(json.dumps({"format": "lawful/1", "dependencies": laws}))
    saved = lawful.load("laws.json")
    assert [law.text for law in saved] == ["city -> zip", "{zip<} -> {name<=}"]
    assert [(law.interest, law.error, law.null) for law in saved] == [(None, None, None)] * 2
    assert lawful.check(PEOPLE, [saved.fds()[0]]).holds


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"format": "lawful/2"}, "is not a document of laws"),
        ({"table": {"columns": [{"name": "a"}, {"name": "a"}]}}, "has the name of another column"),
        ({"table": {"columns": [{"name": 5}]}}, "table.columns[0] has no name"),
        ({"table": []}, '"table" must have a list of "columns"'),
        ({"settings": {"error": 2, "measure": "g1"}}, "must lie in [0, 1)"),
        ({"settings": {"error": 0.1, "measure": []}}, "unknown measure"),
        ({"settings": {"error": "x", "measure": "g1"}}, "the error must be a number"),
        ({"dependencies": [{"kind": "key", "columns": ["a"], "error": "x"}]}, "dependencies[0].error must be a number"),
        (
            {"dependencies": [{"kind": "key", "columns": ["a"], "allowed_error": 0.1}]},
            "dependencies[0]: unknown measure",
        ),
    ],
)
def test_damaged_documents_are_refused_by_name(damage: dict[str, Any], words: str) -> None:
    document = {"format": "lawful/1", "dependencies": [{"kind": "key", "columns": ["a"], "error": 0.1}]}
    Path("laws.json").write_text(json.dumps(document | damage))
    for read in (lawful.load, lambda path: lawful.check(PEOPLE, path)):
        with pytest.raises(SourceError) as refusal:
            read("laws.json")
        assert refusal.value.message.startswith("laws.json: ")
        assert words in refusal.value.message


# What null meant


def test_what_null_meant_comes_with_the_laws() -> None:
    table = pa.table({"a": [1, None, None], "b": ["x", "y", "z"]})
    found = lawful.discover(table, null="ignore")
    for given_as in (found, list(found)):
        assert lawful.check(table, given_as).holds
        assert not lawful.check(table, given_as, null="equal").holds
    assert not lawful.check(table, [law.law for law in found]).holds  # a law alone says nothing of null
    assert lawful.check(table, lawful.check(table, found).outcomes).holds
    assert lawful.explain(table, next(iter(found))).report.null_policy is NullPolicy.IGNORE
    with pytest.raises(UsageError, match='was written with null="ignore", and'):
        lawful.check(table, [*found, *lawful.discover(table)])


# Errors


@pytest.mark.parametrize(
    ("find", "null", "measure"),
    [
        ("key,fd", "equal", "g1"),
        ("key,fd", "ignore", "g3"),
        ("list-od", "equal", "g1"),
        ("list-od", "equal", "g3"),
        ("pod", "ignore", "g1"),
        ("dc", "ignore", "g1"),
    ],
)
def test_laws_are_judged_by_the_error_that_they_were_found_within(find: str, null: str, measure: Any) -> None:
    few = TABLE.select(["c1", "c4", "half"]).slice(0, 50)
    everything = lawful.discover(few, find, error=0.3, measure=measure, null=null, max_size=3)
    threshold = sorted({law.error for law in everything})[-1]  # the error of a law, so that rounding would show
    found = lawful.discover(few, find, error=threshold, measure=measure, null=null, max_size=3)
    assert max(law.error for law in found) == threshold > 0
    found.save("laws.json")
    for given_as in (found, list(found), "laws.json", lawful.load("laws.json")):
        checked = lawful.check(few, given_as)
        assert checked.holds
        assert [outcome.error for outcome in checked.outcomes] == [law.error for law in found]
        assert {outcome.allowed for outcome in checked.outcomes} == {Allowance(threshold, measure)}
    assert not lawful.check(few, found, error=0).holds
    assert lawful.check(few, found, error=threshold, measure=measure).holds
    tighter = lawful.check(few, found, error=threshold * 0.999, measure=measure)
    assert [outcome.holds for outcome in tighter.outcomes] == [law.error <= threshold * 0.999 for law in found]
    document = checked.to_dict()
    check_document(document)
    assert lawful.check(few, document).to_dict()["dependencies"] == document["dependencies"]


def test_an_error_for_texts_and_what_is_told_of_it() -> None:
    (city,) = lawful.check(PEOPLE, "zip -> city", error=0.2, measure="g3").outcomes
    assert (city.holds, city.error, city.allowed, city.removals) == (True, 0.2, Allowance(0.2, "g3"), 1)
    assert city.witness is not None
    checked = lawful.check(PEOPLE, ["zip -> city", "zip -> state"], error=0.1)
    assert [outcome.error for outcome in checked.outcomes] == [0.2, 0.0]
    assert [outcome.holds for outcome in checked.outcomes] == [False, True]
    entries = checked.to_dict()["dependencies"]
    assert entries[0].items() >= {"holds": False, "error": 0.2, "allowed_error": 0.1, "measure": "g3"}.items()
    assert entries[1].items() >= {"holds": True, "error": 0.0, "allowed_error": 0.1, "measure": "g3"}.items()
    assert "witness" in entries[0]
    assert "witness" not in entries[1]
    assert checked.to_dataframe()["allowed_error"].tolist() == [0.1, 0.1]
    tolerant = lawful.check(PEOPLE, "zip -> city", error=0.5)
    assert tolerant.holds
    assert tolerant.violations(0).num_rows == 3
    assert len(tolerant.write_violations("bad")) == 1


@given(st.integers(1, 40), st.integers(0, 40), st.sampled_from(["g1", "g3"]))
def test_a_law_is_within_an_error_that_is_written_as_its_own(rows: int, wrong: int, measure: Any) -> None:
    wrong = min(rows - 1, wrong)
    table = pa.table({"a": [0] * rows, "b": [1] * wrong + [0] * (rows - wrong)})
    whole = max(1, rows * (rows - 1) // 2) if measure == "g1" else rows
    broken = wrong * (rows - wrong) if measure == "g1" else min(wrong, rows - wrong)
    exactly = float(repr(broken / whole))
    if exactly == 1.0:
        return
    checked = lawful.check(table, "a -> b", error=exactly, measure=measure)
    assert checked.holds
    if broken:
        assert checked.outcomes[0].error == exactly
        assert not lawful.check(table, "a -> b", error=(broken - 0.5) / whole, measure=measure).holds


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"error": 1.0}, "must lie in"),
        ({"error": -0.1}, "must lie in"),
        ({"error": 0.1, "measure": "g5"}, "unknown measure"),
        ({"measure": "g3"}, "no error is given"),
    ],
)
def test_errors_that_make_no_sense_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        lawful.check(PEOPLE, "zip -> city", **arguments)


def test_g3_of_a_denial_constraint_is_refused_unless_it_is_a_simpler_law() -> None:
    with pytest.raises(UsageError, match="too hard to find"):
        lawful.check(PEOPLE, "not(t.zip < s.zip and t.city != s.city)", error=0.1, measure="g3")
    plain = lawful.check(PEOPLE, "not(t.zip = s.zip and t.city != s.city)", error=0.2, measure="g3")
    assert plain.outcomes[0].error == 0.2
