"""What `lawful discover` keeps when it is refused, when it cannot write, and when it goes on later."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from discovered_tables import TABLE
from full_disks import largest_file
from pyarrow import csv

from cli.conftest import Lawful
from cli.result_documents import read_document

LATTICE = ("discover", "t.csv", "--find", "canonical-od", "--strategy", "lattice", "--checkpoint", "log")


@pytest.fixture(autouse=True)
def own_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    csv.write_csv(TABLE, "t.csv")


def _texts(document: str) -> list[str]:
    return sorted(entry["text"] for entry in read_document(document)["dependencies"])


def test_a_checkpoint_on_a_full_disk(lawful: Lawful) -> None:
    assert lawful(*LATTICE, "--time-limit", "1e-9").code == 3
    with Path("log").open("ab") as log:  # a damaged line, which is passed over, and only a little room after it
        log.write(b"x" * 600_000 + b"\n")
    Path("laws.json.partial").write_text('"half -> c4"\n')
    refused = lawful(*LATTICE, "--out", "laws.json")
    assert (refused.code, refused.out) == (2, "")
    assert "did not end" in refused.err
    assert "found so far" not in refused.err
    other = lawful(*LATTICE, "--out", "laws.json", "--resume", "--limit", "100")
    assert (other.code, other.out) == (2, "")
    with largest_file(610_000):
        stopped = lawful(*LATTICE, "--out", "laws.json", "--resume")
    assert (stopped.code, stopped.err) == (
        3,
        "laws.json.partial of an earlier run holds laws that were not found now\n",
    )
    assert "incomplete: the checkpoint log cannot be written: File too large; " in stopped.out
    assert Path("laws.json.partial").read_text() == '"half -> c4"\n'
    some = _texts(Path("laws.json").read_text())
    done = lawful(*LATTICE, "--resume", "--json")
    assert done.code == 0
    assert 0 < len(some) < len(_texts(done.out))
    assert set(some) < set(_texts(done.out))
    assert _texts(done.out) == _texts(lawful("discover", "t.csv", "--find", "canonical-od", "--json").out)


def test_a_partial_file_on_a_full_disk(lawful: Lawful) -> None:
    random = np.random.default_rng(1)
    csv.write_csv(pa.table({f"c{place}": random.integers(0, 3 + place, 60) for place in range(12)}), "t.csv")
    least = ("--min-interest", "0.1")  # the document is short, and the partial file has everything
    everything = lawful("discover", "t.csv", *least)
    assert everything.code == 0
    with largest_file(4_000):
        done = lawful("discover", "t.csv", *least, "--out", "laws.json")
    assert done.err == "cannot write laws.json.partial: File too large; the search went on without it\n"
    assert done.code == 0
    assert done.out.splitlines()[:-1] == everything.out.splitlines()[:-1]
    assert sorted(path.name for path in Path().iterdir()) == ["laws.json", "t.csv"]


def test_a_document_that_cannot_be_written_leaves_the_partial_file(lawful: Lawful) -> None:
    shown = lawful("discover", "--exact", "t.csv")
    out = "x" * 240 + ".json"  # a name that leaves no room for that of a file that is being written
    done = lawful("discover", "--exact", "t.csv", "--out", out)
    assert done.code == 2
    assert f"what was found so far is in {out}.partial\n" in done.err
    assert f"cannot write {out}: File name too long" in done.err
    assert done.out.splitlines()[:-1] == shown.out.splitlines()[:-1]
    kept = [json.loads(line) for line in Path(f"{out}.partial").read_text().splitlines()]
    assert sorted(kept) == _texts(lawful("discover", "--exact", "t.csv", "--json").out)


@pytest.mark.parametrize("out", ["log", "link"])
def test_one_file_is_not_taken_for_two(lawful: Lawful, out: str) -> None:
    Path("link").symlink_to("log")
    done = lawful(*LATTICE, "--out", out)
    assert done.code == 2
    assert f"{out} cannot be both the document and the checkpoint" in done.err
    assert not Path("log").exists()


@pytest.mark.parametrize("checkpoint", ["laws.json.partial", "laws.json.2.partial"])
def test_a_checkpoint_is_no_partial_file(lawful: Lawful, checkpoint: str) -> None:
    done = lawful("discover", "t.csv", "--find", "canonical-od", "--checkpoint", checkpoint, "--out", "laws.json")
    assert done.code == 2
    assert f"{checkpoint} cannot be the checkpoint" in done.err
    assert not Path(checkpoint).exists()
