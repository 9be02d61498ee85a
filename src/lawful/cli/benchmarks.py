"""Running the benchmark suite, which a source checkout has and an installed package has not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lawful.common.errors import UsageError


def run_benchmarks(arguments: Sequence[str]) -> int:
    """Run `python -m bench` of the checkout around the current folder; return its exit code."""
    root = find_checkout(Path.cwd())
    # By its path, and not by going there: files that the arguments name are meant from here.
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, check=False).returncode


def find_checkout(folder: Path) -> Path:
    """Return the folder, or the first above it, that is a source checkout of lawful."""
    for candidate in (folder, *folder.parents):
        if (candidate / "bench" / "__main__.py").is_file() and (candidate / "src" / "lawful").is_dir():
            return candidate
    raise UsageError(
        f"{folder} is not in a source checkout of lawful, and the benchmarks are only there",
        "Go into a checkout, the folder with src and bench in it, and try again.",
    )
