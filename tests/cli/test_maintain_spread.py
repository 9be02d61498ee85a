"""States that are spread over a cluster, from the command line and from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from shuffled_tables import write_parts

from cli.conftest import Lawful
from lawful import open_state
from lawful.common.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
def test_a_spread_state_is_used_like_any_other(lawful: Lawful, spark: SparkSession, tmp_path: Path) -> None:
    people = pa.table({"id": [1, 2, 3], "zip": ["10001", "10001", "02139"], "city": ["New York", "New York", "Boston"]})
    source, place = write_parts(people, tmp_path / "people"), str(tmp_path / "people.state")
    asked = [
        "--only-pinned",
        "--row-key",
        "id",
        "--pin",
        "zip -> city",
        "--pin",
        "{}: id ~ zip desc",
        "--placement",
        "shuffle",
    ]
    told = lawful("maintain", place, "--from", str(source), *asked)
    assert told.code == 0, told.out + told.err
    assert "holds    pinned zip -> city" in told.out
    assert "holds    pinned {}: id asc ~ zip desc" in told.out
    monday = tmp_path / "monday.csv"
    monday.write_text("_op,id,zip,city\n-,2,10001,New York\n+,4,02139,Cambridge\n")
    told = lawful("maintain", place, "--changes", str(monday), "--json", "--events", str(tmp_path / "events.jsonl"))
    assert told.code == 1, told.out + told.err
    report = json.loads(told.out)
    assert (report["rows"], report["inserted"], report["deleted"]) == (3, 1, 1)
    pin, order = report["pins"]
    assert (order["holds"], order["violating"], order["pairs"]) == (True, 0, 0)
    assert (pin["holds"], pin["violating"], pin["pairs"]) == (False, 2, 1)
    assert [view["values"]["city"] for view in pin["witness"]] == ["Boston", "Cambridge"]
    assert pin["witness"][1]["file"].endswith("monday.csv")
    (event,) = map(json.loads, (tmp_path / "events.jsonl").read_text().splitlines())
    assert (event["event"], event["law"], event["violating"]) == ("broke", "zip -> city", 2)
    assert "was applied before" in lawful("maintain", place, "--changes", str(monday)).out
    shown = lawful("state", place, "--verify", "--out", str(tmp_path / "laws.json"))
    assert "verified" in shown.out, shown.out
    assert json.loads((tmp_path / "laws.json").read_text())["dependencies"][0]["holds"] is False
    assert "zip -> city" in lawful("history", place).out
    assert "GROUP BY" in lawful("export", place, "--to", "sql").out
    made = lawful("report", place, "-o", str(tmp_path / "report.html"))
    assert made.code == 0, made.out + made.err
    tuesday = tmp_path / "tuesday.csv"
    tuesday.write_text("_op,id,zip,city\n-,3,02139,Boston\n+,9,99999,Juneau\n+,10,00001,Nowhere\n")
    aside = tmp_path / "aside"
    told = lawful("maintain", place, "--changes", str(tuesday), "--json", "--quarantine", str(aside))
    assert told.code == 0, told.out + told.err
    assert (json.loads(told.out)["inserted"], json.loads(told.out)["deleted"]) == (1, 1)
    assert [pin["holds"] for pin in json.loads(told.out)["pins"]] == [True, True]
    assert "verified" in lawful("state", place, "--verify").out
    with open_state(place, spark=spark) as state:
        with pytest.raises(SourceError, match="is there already"):
            state.apply(pa.table({"id": [4], "zip": ["1"], "city": ["x"]}))
        with pytest.raises(SourceError, match="no row has the key"):
            state.apply(deletes=pa.table({"id": [9]}))
        assert state.apply(deletes=pa.table({"id": [9, 4]}), missing="skip").holds
        assert state.apply(delete_ids=[0]).rows == 1


@pytest.mark.slow
def test_laws_are_found_and_kept_in_a_spread_state(lawful: Lawful, spark: SparkSession, tmp_path: Path) -> None:
    people, place = tmp_path / "people.csv", str(tmp_path / "people.state")
    people.write_text("id,zip,city\n1,10001,New York\n2,10001,New York\n3,02139,Boston\n")
    asked = ["--find", "key,fd,canonical-od", "--row-key", "id", "--placement", "shuffle"]
    told = lawful("maintain", place, "--from", str(people), *asked, "--json")
    assert told.code == 0, told.out + told.err
    counts = json.loads(told.out)["laws"]
    assert (counts["key"], counts["fd"]) == (1, 4)
    monday = tmp_path / "monday.csv"
    monday.write_text("_op,id,zip,city\n+,4,02139,Cambridge\n")
    report = json.loads(lawful("maintain", place, "--changes", str(monday), "--json").out)
    (gone,) = [law for law in report["removed"] if law["kind"] == "fd"]
    assert gone["text"] == "zip -> city"
    assert [view["values"]["city"] for view in gone["witness"]] == ["Boston", "Cambridge"]
    assert gone["witness"][1]["file"].endswith("monday.csv")
    monday.write_text("_op,id,zip,city\n-,4,,\n")
    report = json.loads(lawful("maintain", place, "--changes", str(monday), "--json").out)
    assert [law["text"] for law in report["added"] if law["kind"] == "fd"] == ["zip -> city"]
    shown = lawful("state", place, "--verify", "--out", str(tmp_path / "laws.json"))
    assert "verified" in shown.out, shown.out
    assert "1 key, 4 FDs, " in shown.out
    assert "; by indexes" in shown.out
    laws = json.loads((tmp_path / "laws.json").read_text())
    texts = {law["text"] for law in laws["dependencies"] if law["kind"] in ("key", "fd")}
    assert texts == {"key(id)", "id -> zip", "id -> city", "zip -> city", "city -> zip"}
    assert "broken" in lawful("history", place).out
    assert "GROUP BY" in lawful("export", place, "--to", "sql").out
    made = lawful("report", place, "-o", str(tmp_path / "report.html"))
    assert made.code == 0, made.out + made.err
    refused = lawful(
        "maintain", str(tmp_path / "other"), "--from", str(people), "--find", "dc", "--placement", "shuffle"
    )
    assert refused.code == 2
    assert "kept only if they are pinned" in refused.err
