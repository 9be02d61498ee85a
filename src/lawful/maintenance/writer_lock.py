"""Who may write to a state: one process at a time, and in it one object."""

from __future__ import annotations

import fcntl
import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lawful.common.errors import StateInUseError, UsageError
from lawful.maintenance.durable_files import telling

LOCK = "writer.lock"
_SECONDS_BETWEEN_TRIES = 0.05


class WriterLock:
    """The lock of a state's folder. What is being written is waited for, by whoever lets it go or takes it over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: io.TextIOWrapper | None = None
        self._guard = threading.Lock()

    def take(self, patience: float) -> None:
        """Become the writer; while another one is, wait so many seconds.

        Raises
        ------
        StateInUseError
            If another process is.
        """
        with telling(self._folder, "Nothing was changed."):
            file = (self._folder / LOCK).open("a", encoding="ascii")
        until = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() < until:
                    time.sleep(_SECONDS_BETWEEN_TRIES)
                    continue
                file.close()
                raise StateInUseError(
                    f"another process is writing to {self._folder}",
                    "Wait until it has ended; reading is always possible.",
                ) from None
        self._file = file

    def require(self) -> None:
        """Refuse whoever has it not."""
        if self._file is None:
            raise UsageError(f"{self._folder} is not open for writing", "Open the state again, with writes=True.")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep the lock while something is written."""
        with self._guard:
            self.require()
            yield

    def let_go(self) -> None:
        """Let others write."""
        with self._guard:
            if self._file is not None:
                self._file.close()
                self._file = None

    def handed_over(self) -> WriterLock:
        """The same lock for whoever goes on; who has this object, such as work that was left behind, cannot write."""
        fresh = WriterLock(self._folder)
        with self._guard:
            fresh._file, self._file = self._file, None
        return fresh
