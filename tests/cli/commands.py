"""Running the command in a process of its own, in a pipe or on a terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 600.0


@dataclass(frozen=True)
class Finished:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


def run_process(*arguments: str | Path) -> Finished:
    """Run the command with its output in pipes."""
    done = subprocess.run(
        _command(arguments), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
    )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


def _command(arguments: tuple[str | Path, ...]) -> list[str]:
    return [sys.executable, "-m", "lawful", *map(str, arguments)]


@dataclass
class OnTerminal:
    """A command whose standard output or error, or both, are a terminal."""

    process: subprocess.Popen[bytes]
    seen: bytearray = field(default_factory=bytearray)

    def wait_for(self, words: str) -> None:
        """Wait until the terminal has shown some words."""
        deadline = time.monotonic() + PATIENCE
        while words.encode() not in self.seen:
            assert self.process.poll() is None, f"it ended without {words!r}: {self.text[-500:]}"
            assert time.monotonic() < deadline, f"it never showed {words!r}: {self.text[-500:]}"
            time.sleep(0.005)

    def interrupt(self) -> None:
        """Do what Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def finish(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and what went into the pipe, if anything did."""
        out, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, (out or b"").decode()

    @property
    def text(self) -> str:
        """Everything that the terminal has shown."""
        return self.seen.decode(errors="replace")


@contextmanager
def on_terminal(*arguments: str | Path, out_too: bool = False, columns: int = 100) -> Iterator[OnTerminal]:
    """Run the command with standard error on a terminal, and with standard output too or in a pipe."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(columns)}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    process = subprocess.Popen(
        _command(arguments),
        stdin=subprocess.DEVNULL,
        stdout=theirs if out_too else subprocess.PIPE,
        stderr=theirs,
        env=environment,
        # Where the tests run in the background their children would ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    os.close(theirs)
    running = OnTerminal(process)
    reader = threading.Thread(target=_read_all, args=(ours, running.seen), daemon=True)
    reader.start()
    try:
        yield running
        process.wait(PATIENCE)
        reader.join(PATIENCE)
    finally:
        process.kill()
        process.wait()
        reader.join(PATIENCE)
        os.close(ours)


def _read_all(terminal: int, into: bytearray) -> None:
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux says so when the last program on a terminal has gone
            return
        if not piece:
            return
        into.extend(piece)
