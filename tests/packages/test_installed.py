"""What is built can be installed into an empty environment, and used there: `make test-packages`.

The interpreters of `LAWFUL_PYTHONS` are taken, or the one that runs the tests.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHONS = os.environ.get("LAWFUL_PYTHONS", "").split() or [sys.executable]
TABLE = "name,zip,city\nAnn,10001,New York\nBob,10001,New York\nEve,10001,Newark\nDan,02139,Cambridge\n"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def _uv(*arguments: str | Path) -> None:
    done = subprocess.run([sys.executable, "-m", "uv", "--quiet", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Built:
    wheel: Path
    sdist: Path


@dataclass(frozen=True)
class Environment:
    """An environment with lawful in it, and a folder to work in, which also is the home."""

    bin: Path
    folder: Path

    def run(self, *command: str, code: int = 0) -> str:
        """What a program of the environment prints; nothing of this process's own environment reaches it."""
        variables = {"PATH": f"{self.bin}{os.pathsep}/usr/bin{os.pathsep}/bin", "HOME": str(self.folder)}
        done = subprocess.run(
            [self.bin / command[0], *command[1:]], cwd=self.folder, env=variables, capture_output=True, text=True
        )
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The wheel is built from the sdist, as installers do that find no wheel."""
    out = tmp_path_factory.mktemp("dist")
    _uv("build", "--out-dir", out, ROOT)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="module", params=PYTHONS)
def python(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _installed(python: str, what: str, place: Path) -> Environment:
    _uv("venv", "--python", python, place / "env")
    _uv("pip", "install", "--python", place / "env/bin/python", what)
    home = place / "home"
    home.mkdir()
    (home / "people.csv").write_text(TABLE)
    return Environment(place / "env/bin", home)


@pytest.fixture(scope="module")
def core(built: Built, python: str, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return _installed(python, str(built.wheel), tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="module")
def everything(built: Built, python: str, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return _installed(python, f"lawful[all] @ {built.wheel.as_uri()}", tmp_path_factory.mktemp("all"))


def _first_steps(lawful: Environment) -> None:
    """What the core does alone: discover, check, report, list."""
    found = lawful.run("lawful", "discover", "people.csv", "--exact", "--out", "laws.json")
    assert "city -> zip" in found
    laws = json.loads((lawful.folder / "laws.json").read_text())
    assert laws["complete"] is True
    assert "3 rows in 2 violating pairs" in lawful.run("lawful", "check", "people.csv", "--laws", "zip -> city", code=1)
    lawful.run("lawful", "check", "people.csv", "--laws", "laws.json")
    lawful.run("lawful", "report", "laws.json", "--table", "people.csv", "-o", "report.html")
    page = (lawful.folder / "report.html").read_text()
    assert "Content-Security-Policy" in page
    assert "city -> zip" in lawful.run("lawful", "export", "laws.json", "--to", "markdown")
    assert "city -> zip" in lawful.run("lawful", "export", "laws.json", "--to", "csv")
    assert (ROOT / "src/lawful/reports/assets/style.css").read_text().splitlines()[0] in page
    assert re.match(r"lawful \d", lawful.run("python", "-m", "lawful", "--version"))


def test_core_alone(core: Environment) -> None:
    _first_steps(core)


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["check", "people.csv", "--laws", "key(name)", "--engine", "spark"], "lawful[spark]"),
        (["export", "laws.json", "--to", "sql"], "lawful[exports]"),
    ],
)
def test_what_is_missing_is_named(core: Environment, command: list[str], extra: str) -> None:
    if not (core.folder / "laws.json").exists():
        core.run("lawful", "discover", "people.csv", "--out", "laws.json")
    said = core.run("lawful", *command, code=2)
    assert extra in said
    assert "Traceback" not in said


def test_with_all_extras(everything: Environment) -> None:
    _first_steps(everything)
    assert "GROUP BY" in everything.run("lawful", "export", "laws.json", "--to", "sql").upper()
    everything.run("lawful", "export", "laws.json", "--to", "dbt", "-o", "dbt")
    assert list((everything.folder / "dbt").rglob("*.yml"))
    checked = everything.run("lawful", "check", "people.csv", "--laws", "key(name)", "--master", "local[1]")
    assert "engine spark" in checked
    assert "1 of 1 laws hold" in checked


def test_what_is_in_the_packages(built: Built) -> None:
    inside = set(zipfile.ZipFile(built.wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "src/lawful"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert {name.removeprefix("src/") for name in tracked} <= inside
    assert not [name for name in inside if "__pycache__" in name or name.endswith((".nbi", ".nbc", ".pyc"))]
    assert any(name.endswith("licenses/LICENSE") for name in inside)
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", *tracked} <= names
    assert not [name for name in names if name.startswith((".venv", ".tools", "site/"))]
