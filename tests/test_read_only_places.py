"""lawful where its installation and the home are read-only: it starts, and keeps what it compiles where it can."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from read_only import ReadOnlyPlace, finish

CHECK = ("check", "small.csv", "--laws", "a -> b", "--laws", "key(a)")
JUDGED = "1 of 2 laws hold\n"
PROGRAM = """
import os, sys
from lawful.common.paths import cache_dir
first, second = cache_dir(), cache_dir()
assert first == second, (first, second)
if os.fork() == 0:
    sys.exit()  # a process that was forked takes nothing away when it ends
os.wait()
assert first.is_dir()
print(first)
"""


@pytest.fixture
def place(tmp_path: Path) -> ReadOnlyPlace:
    made = ReadOnlyPlace.make(tmp_path / "place")
    rows = "".join(f"{number % 300},x{number % 300}\n" for number in range(400))  # enough to need compiled kernels
    (made.root / "small.csv").write_text(f"a,b\n{rows}")
    return made


@pytest.fixture
def usual(place: ReadOnlyPlace) -> Path:
    """The folder that all processes of this user share."""
    return place.temporary / f"lawful-{os.getuid()}"


def machine_code(folder: Path) -> dict[str, int]:
    """What Numba has kept, and when it was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}


def test_the_place_is_as_read_only_as_it_says(place: ReadOnlyPlace) -> None:
    program = (
        "import lawful, os, pathlib\n"
        "for folder in (pathlib.Path(lawful.__file__).parent, pathlib.Path.home()):\n"
        "    print(folder, os.access(folder, os.W_OK))"
    )
    assert finish(place.start("-c", program)) == f"{place.package} False\n{place.home} False\n"


def test_machine_code_is_kept_among_temporary_files_and_used_again(place: ReadOnlyPlace, usual: Path) -> None:
    assert "lawful [OPTIONS] COMMAND" in place.run("--help")
    assert place.left() == []
    assert place.run("profile", "small.csv").startswith("small.csv: 400 rows, 2 columns\n")
    assert place.run(*CHECK, expected=1).endswith(JUDGED)
    kept = machine_code(usual / "kernels")
    assert kept
    assert stat.S_IMODE((usual / "kernels").stat().st_mode) == 0o700
    assert place.run(*CHECK, "--no-cache", expected=1).endswith(JUDGED)
    assert machine_code(usual / "kernels") == kept
    assert place.left() == [usual.name]


def test_processes_that_begin_at_once_share_it(place: ReadOnlyPlace, usual: Path) -> None:
    processes = [place.start("-m", "lawful", *CHECK) for _ in range(3)]
    assert [finish(process, expected=1).endswith(JUDGED) for process in processes] == [True] * 3
    kept = machine_code(usual / "kernels")
    assert kept
    assert place.run(*CHECK, "--no-cache", expected=1).endswith(JUDGED)
    assert machine_code(usual / "kernels") == kept
    assert place.left() == [usual.name]


def test_nothing_is_needed_that_can_be_written(place: ReadOnlyPlace) -> None:
    assert "lawful [OPTIONS] COMMAND" in place.run("--help", writes_nothing=True)
    assert place.run("profile", "small.csv", writes_nothing=True).startswith("small.csv: 400 rows, 2 columns\n")
    assert place.run(*CHECK, writes_nothing=True, expected=1).endswith(JUDGED)
    assert place.left() == []


def test_a_folder_that_is_not_private_is_left_alone_and_no_other_is_left_behind(
    place: ReadOnlyPlace, usual: Path
) -> None:
    usual.mkdir()
    usual.chmod(0o777)
    assert place.run(*CHECK, expected=1).endswith(JUDGED)
    assert place.left() == [usual.name]
    assert list(usual.iterdir()) == []
    own = Path(finish(place.start("-c", PROGRAM)).strip())
    assert own.parent == place.temporary
    assert not own.exists()


def test_what_a_killed_process_left_is_removed(place: ReadOnlyPlace, usual: Path) -> None:
    usual.symlink_to(place.home)
    killed = place.start(
        "-c", "import os\nfrom lawful.common.paths import cache_dir\ncache_dir()\nos.kill(os.getpid(), 9)"
    )
    killed.communicate()
    assert len(place.left()) == 2
    finish(place.start("-c", PROGRAM))
    assert place.left() == [usual.name]


def test_machine_code_is_never_loaded_from_where_others_can_write(place: ReadOnlyPlace) -> None:
    shared = place.root / "shared"
    (shared / "kernels").mkdir(parents=True)
    (shared / "kernels").chmod(0o777)
    assert place.run(*CHECK, LAWFUL_CACHE=str(shared), expected=1).endswith(JUDGED)
    assert machine_code(shared) == {}


@pytest.mark.cluster
@pytest.mark.parametrize("is_private", [True, False])
def test_spark_starts_there_too(place: ReadOnlyPlace, usual: Path, is_private: bool) -> None:
    usual.mkdir(mode=0o700)
    usual.chmod(0o700 if is_private else 0o777)
    archive = "off" if is_private else "on"  # which needs a place that lasts: none is written, and nothing fails
    shown = place.run(*CHECK, "--engine", "spark", "--master", "local[2]", LAWFUL_CLASS_ARCHIVE=archive, expected=1)
    assert "engine spark" in shown
    assert shown.endswith(JUDGED)
    assert bool(machine_code(usual)) == is_private
    assert not (usual / "java").exists()
    assert place.left() == [usual.name, f"lawful-tables-{os.getuid()}"]
