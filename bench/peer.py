"""The peer, Desbordante, in an environment of its own: it is run as a separate program and never imported here."""

from __future__ import annotations

import subprocess
import sys
import venv

from bench.harness import ROOT, Missing

FOLDER = ROOT / "bench" / ".peer"
PYTHON = FOLDER / "bin" / "python"


def peer_python() -> str:
    """The interpreter of the peer's environment, which is made at first use."""
    if not _has_peer():
        print("  installing the peer (desbordante) into its own environment …", flush=True)
        venv.create(FOLDER, with_pip=True)
        done = subprocess.run(
            [str(PYTHON), "-m", "pip", "install", "--quiet", "desbordante"], capture_output=True, text=True, check=False
        )
        if done.returncode or not _has_peer():
            raise Missing("the peer cannot be installed: pip install desbordante failed")
    return str(PYTHON)


def _has_peer() -> bool:
    if not PYTHON.exists():
        return False
    done = subprocess.run([str(PYTHON), "-c", "import desbordante"], capture_output=True, check=False)
    return done.returncode == 0


def lawful_python() -> str:
    """The interpreter that runs lawful."""
    return sys.executable
