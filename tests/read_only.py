"""Running lawful where it is installed read-only and the home cannot be written to, as in many containers."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 500.0
_DROP_FROM_BOUNDING_SET, _OVERRIDE_FILE_MODES = 24, 1


@dataclass(frozen=True)
class ReadOnlyPlace:
    """A copy of the package, a home and a folder for temporary files; only the last can be written to."""

    root: Path

    @property
    def package(self) -> Path:
        return self.root / "site" / "lawful"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    @staticmethod
    def make(root: Path) -> ReadOnlyPlace:
        place = ReadOnlyPlace(root)
        source = Path(__file__).parents[1] / "src" / "lawful"
        shutil.copytree(source, place.package, ignore=shutil.ignore_patterns("__pycache__"))
        place.home.mkdir()
        place.temporary.mkdir()
        for folder in (place.home, place.package.parent):
            for path in (folder, *folder.rglob("*")):
                path.chmod(0o555 if path.is_dir() else 0o444)
        return place

    def start(self, *arguments: str, writes_nothing: bool = False, **environment: str) -> subprocess.Popen[str]:
        """Start Python; with `writes_nothing` not a byte can be written to any file."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LAWFUL", "XDG", "NUMBA"))}
        own = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "PYTHONPATH": str(self.package.parent)}

        def give_up_rights() -> None:
            if os.getuid() == 0:  # to root file modes mean nothing, until this is given up
                assert ctypes.CDLL(None).prctl(_DROP_FROM_BOUNDING_SET, _OVERRIDE_FILE_MODES, 0, 0, 0) == 0
            if writes_nothing:
                resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.root,
            env=kept | own | {"PYTHONDONTWRITEBYTECODE": "1", "LAWFUL_CLASS_ARCHIVE": "off"} | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=give_up_rights,
        )

    def run(self, *arguments: str, writes_nothing: bool = False, expected: int = 0, **environment: str) -> str:
        """Run `lawful`, and give what it printed."""
        process = self.start("-m", "lawful", *arguments, writes_nothing=writes_nothing, **environment)
        return finish(process, expected)

    def left(self) -> list[str]:
        """What lies among the temporary files."""
        return sorted(path.name for path in self.temporary.iterdir())


def finish(process: subprocess.Popen[str], expected: int = 0) -> str:
    """Wait for a process that must end with this code and without a word of complaint; give what it printed."""
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (expected, "")
    return out
