"""The lives of laws on the command line, and what is refused of a stream before Spark is started."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli.conftest import Lawful


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lawful: Lawful) -> str:
    """A state whose pinned law was broken by one batch and mended by the next."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,zip,city\n1,10001,NY\n2,94105,SF\n3,94105,SF\n")
    Path("new.csv").write_text("id,zip,city\n4,94105,LA\n")
    Path("old.csv").write_text("id\n4\n")
    lawful("maintain", "p.state", "--from", "people.csv", "--row-key", "id", "--pin", "zip -> city")
    assert lawful("maintain", "p.state", "--insert", "new.csv", "--events", "events.jsonl").code == 1
    assert lawful("maintain", "p.state", "--delete", "old.csv", "--events", "events.jsonl").code == 0
    return "p.state"


def test_lives_are_drawn(state: str, lawful: Lawful) -> None:
    done = lawful("history", state, "--law", "zip -> city")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "people.csv: version 2\n"
        "  pinned zip -> city  █·█  valid since batch 2, broken 1 time\n"
        "         zip -> city  █·█  valid since batch 2, broken 1 time\n"
        "2 laws valid, 0 never broken; 0 not\n"
    )
    assert "key(id)" in lawful("history", state, "--min-age", "2").out
    assert "key(id)" not in lawful("history", state, "--broke-since", "1").out
    assert "zip -> city" not in lawful("history", state, "--kind", "key").out
    assert lawful("history", state, "--column", "nowhere").code == 2


def test_as_documents_and_charts(state: str, lawful: Lawful) -> None:
    document = json.loads(lawful("history", state, "--json", "-o", "lives.parquet").out)
    pinned = document["laws"][0]
    assert (pinned["law"], pinned["pinned"], pinned["violating"]) == ("zip -> city", True, {"1": 3})
    assert pinned["valid"] == [
        {"from": 0, "to": 0, "ended": "broken"},
        {"from": 2, "to": None, "ended": None},
    ]
    assert pq.read_table("lives.parquet").num_rows == sum(len(law["valid"]) for law in document["laws"])
    assert lawful("history", state, "-o", "lives.svg").code == 0
    drawn = Path("lives.svg").read_text()
    assert "<svg" in drawn
    assert {">pinned zip -&gt; city<", ">zip -&gt; city<"} <= set(re.findall(r">[^<>]*<", drawn)), "a line for each"
    assert "rows that break it" in drawn
    assert not re.search(r">\d+\.\d+<", drawn), "there is no half batch"
    assert lawful("history", state, "-o", "lives.xyz").code == 2
    nothing = lawful("history", state, "--kind", "dc", "-o", "nothing.png")
    assert (nothing.code, Path("nothing.png").exists()) == (2, False)
    assert "there is no law to draw" in nothing.err


def test_events_of_batches(state: str) -> None:
    events = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines()]
    pinned = [(event["version"], event["event"], event["violating"]) for event in events if event["pinned"]]
    assert pinned == [(1, "broke", 3), (2, "mended", 0)]
    assert [row["values"] for row in events[0]["rows"]][-1] == {"zip": "94105", "city": "LA"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--trigger", "10s"], "options of a stream are given, and no stream"),
        (["--stream", "in", "--insert", "new.csv"], "a batch and a stream are given"),
        (["--stream", "in", "--trigger", "often"], "unknown trigger 'often'"),
        (["--stream", "in", "--misfits", "drop"], "unknown outcome 'drop'"),
        (["--stream", "in", "--source-option", "x"], "'x' is no option"),
    ],
)
def test_what_is_refused_before_spark_is_started(state: str, lawful: Lawful, arguments: list[str], said: str) -> None:
    done = lawful("maintain", state, *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_law_that_was_pinned_broken_was_never_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lawful: Lawful
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,zip,city\n1,10001,NY\n2,10001,SF\n")
    Path("new.csv").write_text("id,zip,city\n3,94105,SF\n")
    Path("old.csv").write_text("id\n2\n")
    pinned = ("--pin", "zip -> city", "--only-pinned")
    assert lawful("maintain", "p.state", "--from", "people.csv", "--row-key", "id", *pinned).code == 1
    assert "always broken" in lawful("history", "p.state").out
    assert lawful("maintain", "p.state", "--insert", "new.csv", "--events", "events.jsonl").code == 1
    assert not Path("events.jsonl").exists() or not Path("events.jsonl").read_text()
    assert "··  always broken, now by 2 rows" in lawful("history", "p.state").out
    assert lawful("maintain", "p.state", "--delete", "old.csv", "--events", "events.jsonl").code == 0
    assert [json.loads(line)["event"] for line in Path("events.jsonl").read_text().splitlines()] == ["mended"]
    assert "··█  valid since batch 2" in lawful("history", "p.state").out
