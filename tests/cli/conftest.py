"""The command, run in this process, which goes on after it, with a cache folder of its own."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.commands import Finished

Lawful = Callable[..., Finished]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("LAWFUL_CACHE", str(folder))
    return folder


@pytest.fixture
def lawful(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Lawful:
    """Run `lawful ARGUMENTS`; what it prints is caught where the system sees it, so native code is included."""
    from lawful.cli.main import exit_code

    def call(*arguments: str | Path) -> Finished:
        if "cache" in arguments:
            gc.collect()  # in a process of its own, nothing of the last command would still use its table
        monkeypatch.setattr(sys, "argv", ["lawful", *map(str, arguments)])
        capfd.readouterr()
        code = exit_code()
        caught = capfd.readouterr()
        return Finished(code, caught.out, caught.err)

    return call


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small table in the current folder: zip -> city is broken by lines 3 and 4, zip -> state holds."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(
        "name,zip,city,state,age,pension\n"
        "Ann,00501,Holtsville,NY,30,\n"
        "Bob,10001,New York,NY,45,100\n"
        "Eve,10001,Newark,NY,50,200\n"
        "Dan,94105,San Francisco,CA,65,150\n"
    )
    return "people.csv"
