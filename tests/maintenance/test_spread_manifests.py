"""Writers of one spread state: of two that write a manifest with one number, one has written it, for everybody."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lawful.common.errors import DamagedTableError, SourceError
from lawful.tables.spread import manifests as manifests_module
from lawful.tables.spread.manifests import Manifests

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_of_two_manifests_with_one_number_the_first_counts(spark: SparkSession, tmp_path: Path) -> None:
    manifests = Manifests(spark, tmp_path.as_uri())
    assert manifests.last_number() == -1
    manifests.write(0, {"who": "one"})
    with pytest.raises(SourceError, match="another process"):
        manifests.write(0, {"who": "two"})
    (folder,) = (path for path in (tmp_path / "manifests").iterdir() if path.is_dir())
    late = tmp_path / "manifests" / f"{0:010d}-{'f' * 32}"  # as a version might that let two be there
    late.mkdir()
    (late / "part-00000-x.txt").write_text("{}")
    assert manifests.latest()["who"] == "one"
    for part in folder.glob("part-*"):
        part.write_text(part.read_text().replace("one", "two"))
    late.rename(tmp_path / "away")
    with pytest.raises(DamagedTableError, match="checksum"):
        manifests.latest()


def test_writers_agree_where_files_cannot_be_linked(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifests_module, "local_path", lambda _: None)
    manifests = Manifests(spark, tmp_path.as_uri())
    manifests.write(0, {"who": "one"})
    with pytest.raises(SourceError, match="another process"):
        manifests.write(0, {"who": "two"})
    assert manifests.latest() == {"who": "one", "number": 0}
    for dies_at, then in (("-accept-", "two"), ("manifests/", "dead")):
        number = manifests.last_number() + 1
        with monkeypatch.context() as patched:
            patched.setattr(Manifests, "_write_text", _dying_at(dies_at))
            with pytest.raises(KeyboardInterrupt):
                manifests.write(number, {"who": "dead"})
        assert manifests.last_number() == number - 1
        if then == "dead":  # it may have been decided, so the next writer writes it, and is told so
            with pytest.raises(SourceError, match="another process"):
                manifests.write(number, {"who": "two"})
        else:
            manifests.write(number, {"who": "two"})
        assert manifests.latest() == {"who": then, "number": number}


def test_a_writer_that_stood_still_takes_no_place_that_was_freed(tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    for number in range(manifests_module._KEPT + 3):
        assert manifests_module._linked(folder, number, "{}")
    assert not manifests_module._linked(folder, 1, "{}")
    shutil.rmtree(folder / f"{1:010d}-{'0' * 32}")
    assert not manifests_module._linked(folder, 1, "{}")
    with pytest.raises(SourceError, match="does not see"):
        manifests_module._linked(tmp_path / "nowhere" / "manifests", 0, "{}")


def _dying_at(place: str) -> Callable[[Manifests, str, str], None]:
    write = Manifests._write_text

    def dies(self: Manifests, folder: str, text: str) -> None:
        if place in folder:
            raise KeyboardInterrupt
        write(self, folder, text)

    return dies


@pytest.mark.parametrize("links", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_of_two_processes_one_writes_each_manifest(tmp_path: Path, links: bool) -> None:
    count = 40 if links else 6
    command = [sys.executable, str(Path(__file__).with_name("manifest_writer.py")), str(tmp_path), str(count)]
    running = [
        subprocess.Popen([*command, name, *(["links"] if links else [])], stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    for name in ("one", "two"):  # both begin when both are there
        while not (tmp_path / f"{name}.ready").exists():
            time.sleep(0.05)
    (tmp_path / "go").touch()
    written = [set(map(int, process.communicate(timeout=300)[0].split())) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert written[0] | written[1] == set(range(count))
    assert not written[0] & written[1]
    for number in range(count):
        there = (tmp_path / "manifests").glob(f"{number:010d}-*/part-*")
        texts = {json.loads(part.read_text())["who"] for part in there}
        assert texts == {"one" if number in written[0] else "two"}
