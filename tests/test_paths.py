from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from lawful.common.errors import UsageError
from lawful.common.paths import cache_dir, lasting_cache_dir


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    for name in ("LAWFUL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_it_is_made_for_its_owner_only(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = cache_dir()
    assert folder == tmp_path / ".cache" / "lawful"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_variables_decide_the_nearest_first(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir() == tmp_path / "xdg" / "lawful"
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "mine"))
    assert cache_dir() == tmp_path / "mine"


def test_a_relative_xdg_folder_is_ignored(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_dir() == tmp_path / ".cache" / "lawful"


def test_a_missing_home_is_not_created(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    assert cache_dir() == tmp_path / f"lawful-{os.getuid()}"
    assert not (tmp_path / "missing").exists()


def test_a_folder_that_others_may_write_to_is_not_trusted(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    planted = tmp_path / f"lawful-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    assert cache_dir() != planted
    assert lasting_cache_dir() is None


def test_a_link_is_not_trusted(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "missing"))
    (tmp_path / "elsewhere").mkdir()
    planted = tmp_path / f"lawful-{os.getuid()}"
    planted.symlink_to(tmp_path / "elsewhere")
    assert cache_dir() != planted


def test_an_unusable_wish_is_told(monkeypatch, tmp_path):
    Path(tmp_path / "file").write_text("")
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="LAWFUL_CACHE"):
        cache_dir()
