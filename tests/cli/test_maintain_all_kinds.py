"""States that keep laws of all kinds on the command line, of tables as they come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Lawful

EVERY = "key,fd,canonical-od,list-od,pod,dc"
TABLES = {
    "empty": ["a,b,c"],
    "one row": ["a,b,c", "1,2,x"],
    "nulls": ["a,b,c", ",,", ",,"],
    "rows": ["a,b,c", "1,2,x", "2,3,y", "3,1,z"],
    "hostile names": ['"a""x","<b>","c; DROP"', "1,2,x", "2,3,y"],
}


@pytest.mark.parametrize("name", list(TABLES))
def test_a_state_of_all_kinds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lawful: Lawful) -> None:
    monkeypatch.chdir(tmp_path)
    lines = TABLES[name]
    Path("first.csv").write_text("\n".join(lines) + "\n")
    Path("more.csv").write_text(f"{lines[0]}\n7,1,q\n7,0,r\n")
    made = lawful("maintain", "s.state", "--from", "first.csv", "--find", EVERY)
    assert (made.code, made.err) == (0, "")
    for kind in ("canonical OD", "list OD", "POD", "DC"):
        assert kind in made.out
    batch = lawful("maintain", "s.state", "--insert", "more.csv", "--json")
    assert batch.code == 0, batch.err
    told = json.loads(batch.out)
    shown = lawful("state", "s.state", "--verify")
    assert shown.code == 0, shown.err + shown.out
    assert "verified: everything is as the rows say" in shown.out
    assert lawful("state", "s.state", "--out", "laws.json").code == 0
    document = json.loads(Path("laws.json").read_text())
    assert len(document["dependencies"]) == sum(told["laws"].values())
    assert document["complete"]
