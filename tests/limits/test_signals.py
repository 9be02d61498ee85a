"""A SIGTERM ends a command in every phase: while it searches, and while nobody reads what it writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

PATIENCE = 600.0
"""Seconds after which a command that was told to end hangs."""
COMMAND = (sys.executable, "-c", "from lawful.cli.main import run; run()", "discover", "t.csv", "--exact")


def _many_laws(rows: int = 60, columns: int = 16) -> pa.Table:
    random = np.random.default_rng(2)
    return pa.table({f"column_{place}": random.integers(0, 4 + place, rows) for place in range(columns)})


def _start(folder: Path, table: pa.Table, *options: str) -> subprocess.Popen[bytes]:
    csv.write_csv(table, folder / "t.csv")
    return subprocess.Popen(
        [*COMMAND, *options],
        cwd=folder,
        env=os.environ | {"LAWFUL_CACHE": str(folder / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.timeout(2 * PATIENCE)
@pytest.mark.parametrize("out", [(), ("--out", "laws.json")], ids=["pipe alone", "document too"])
def test_a_sigterm_ends_a_command_whose_output_nobody_reads(out: tuple[str, ...], tmp_path: Path) -> None:
    with _start(tmp_path, _many_laws(), "--json", *out) as command:
        assert command.stdout is not None
        assert os.read(command.stdout.fileno(), 1) == b"{"  # it writes by now, and soon fills the pipe
        _wait_until_asleep(command.pid)
        command.send_signal(signal.SIGTERM)
        assert command.wait(PATIENCE) == 3
        assert command.stderr is not None
        assert b"stopped while the result was shown" in command.stderr.read()
    if out:
        document = json.loads((tmp_path / "laws.json").read_text())
        assert document["complete"]
        assert len(document["dependencies"]) > 1_000
        assert not (tmp_path / "laws.json.partial").exists()


@pytest.mark.timeout(2 * PATIENCE)
def test_a_sigterm_ends_a_search_with_what_it_found(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    rows = 30_000
    columns = {f"c{place}": random.integers(0, 3 + place * place, rows) for place in range(60)}
    table = pa.table({"id": np.arange(rows), **columns, "one": np.zeros(rows)})
    with _start(tmp_path, table, "--out", "laws.json") as command:
        deadline = time.monotonic() + PATIENCE
        while b"key(id)" not in _read(tmp_path / "laws.json.partial"):  # the first law is certain, and many are to come
            assert command.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        command.send_signal(signal.SIGTERM)
        command.communicate(timeout=PATIENCE)
        assert command.returncode == 3
    document = json.loads((tmp_path / "laws.json").read_text())
    texts = {entry["text"] for entry in document["dependencies"]}
    assert (document["complete"], document["stopped"]) == (False, "the user stopped it")
    assert "key(id)" in texts


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def _wait_until_asleep(pid: int) -> None:
    """Wait until a process waits for something and uses no processor, as one does that writes to a full pipe."""
    deadline, before = time.monotonic() + PATIENCE, ("", "")
    while time.monotonic() < deadline:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        state, used = fields[0], f"{fields[11]} {fields[12]}"
        assert state != "Z", "the command has ended"
        if state == "S" and before == (state, used):
            return
        before = (state, used)
        time.sleep(0.5)
