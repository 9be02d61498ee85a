"""`lawful bench` in a checkout and outside of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Lawful

PROGRAM = """
import sys
from pathlib import Path

print(Path.cwd().name, sys.argv[1:])
sys.exit(len(sys.argv) - 1)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "src" / "lawful").mkdir(parents=True)
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__init__.py").touch()
    (tmp_path / "bench" / "__main__.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize("folder", [".", "src", "src/lawful"])
def test_arguments_and_exit_code_pass_through(
    lawful: Lawful, checkout: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(checkout / folder)
    done = lawful("bench", "fd*", "--repetitions", "1", "--list", "-x")
    assert (done.code, done.err) == (5, "")
    assert done.out == f"{Path.cwd().name} ['fd*', '--repetitions', '1', '--list', '-x']\n"
    assert lawful("bench").code == 0


def test_the_cases_of_this_checkout(lawful: Lawful, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    done = lawful("bench", "--list")
    assert (done.code, done.err) == (0, "")
    assert "encode-growing" in done.out
