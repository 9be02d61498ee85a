"""A command that follows a stream and is told to end does so after its batch, and goes on when it is run again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lawful
from maintenance.streaming_states import FILES, PINS, arrive, clean_run, outcome, planned

PATIENCE = 600.0


def followed(root: Path, *more: str) -> subprocess.Popen[str]:
    """`lawful maintain --stream` over the files that arrive below a folder, in a process group of its own."""
    options = ["--row-key", "id", "--evidence", "witnesses", "--misfits", "quarantine", "--missing", "skip"]
    options += ["--quarantine", str(root / "aside"), "--events", str(root / "events.jsonl"), "--format", "csv"]
    options += [word for law in PINS for word in ("--pin", law)]
    options += ["--source-option", "maxFilesPerTrigger=1", "--master", "local[1]", *more]
    program = [sys.executable, "-c", "from lawful.cli.main import run; run()"]
    return subprocess.Popen(
        [*program, "maintain", str(root / "p.state"), "--stream", str(root / "in"), *options],
        env=os.environ | {"LAWFUL_CACHE": str(root / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.cluster
@pytest.mark.timeout(3 * PATIENCE)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stream_that_is_told_to_end_ends_after_its_batch(number: signal.Signals, tmp_path: Path) -> None:
    root = tmp_path / "told"
    for each in range(FILES):
        arrive(root / "in", each)
    with followed(root) as command:
        until = time.monotonic() + PATIENCE
        while not list((root / "p.state" / "log").glob("*.batch")):
            assert command.poll() is None, command.communicate()
            assert time.monotonic() < until
            time.sleep(0.005)
        command.send_signal(number)
        out, err = command.communicate(timeout=PATIENCE)
        assert command.returncode == 0, (out, err)
        assert "Traceback" not in out + err
    assert not list((root / "p.state").rglob("*.new"))
    with lawful.open_state(root / "p.state", engine="local") as state:  # nobody holds it
        assert 1 <= state.version <= FILES
        assert state.described(verify=True).differences == []
    with followed(root, "--trigger", "available-now") as command:
        out, err = command.communicate(timeout=PATIENCE)
        assert command.returncode == 0, (out, err)
    assert outcome(root) == clean_run(tmp_path / "clean", planned(root))
