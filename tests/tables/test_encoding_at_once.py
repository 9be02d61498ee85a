"""Several processes that encode at once, and processes that are killed while they do."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from lawful.common.errors import DamagedTableError
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.kept_tables import discard, forget, tables_folder
from tables.conftest import encode_locally
from tables.encoding_worker import digest

WORKER = Path(__file__).with_name("encoding_worker.py")


def write_table(path: Path, rows: int, seed: int) -> Path:
    noise = random.Random(seed)
    lines = (f"{row},{noise.randrange(1000)},{noise.random()},word {noise.randrange(rows)}\n" for row in range(rows))
    path.write_text("id,n,f,w\n" + "".join(lines))
    return path


@contextmanager
def worker(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A worker that is ready; it and all that it started are gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ,
    )
    try:
        assert listen(process) == {"ready": True}
        yield process
    finally:
        kill_all_of(process)


def kill_all_of(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def listen(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def ask(process: subprocess.Popen[str], path: Path) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{path}\n")
    process.stdin.flush()


def entries() -> tuple[list[Path], list[Path]]:
    """The tables that stand in the cache, and what is still being written or was left behind."""
    folders = [entry for entry in tables_folder().iterdir() if entry.is_dir()]
    return (
        [folder for folder in folders if not folder.name.startswith(".")],
        [folder for folder in folders if folder.name.startswith(".")],
    )


def test_processes_that_encode_one_table_at_once(tmp_path: Path) -> None:
    with ExitStack() as stack:
        workers = [stack.enter_context(worker()) for _ in range(3)]
        for turn in range(8):
            path = write_table(tmp_path / f"{turn}.csv", 300, turn)
            if turn % 2:  # a damaged table stands in the way of all
                folder = encode_locally(path).folder
                assert folder is not None
                (folder / "ranks/0.npy").write_bytes(b"damaged")
            expected = digest(encode_locally(path, reuse=False)) | {"folder": None}
            for process in workers:
                ask(process, path)
            answers = [listen(process) for process in workers]
            assert [answer | {"folder": None} for answer in answers] == [expected] * len(workers)
            assert len({answer["folder"] for answer in answers}) == 1
            EncodedTable.open(Path(answers[0]["folder"]))
    tables, unfinished = entries()
    assert (len(tables), unfinished) == (8, [])


def test_nobody_loses_a_table_to_one_who_clears_the_cache(tmp_path: Path) -> None:
    path = write_wide_table(tmp_path / "t.csv", 60)
    expected = digest(encode_locally(path, reuse=False)) | {"folder": None}
    forgotten = rounds = 0
    with ExitStack() as stack:
        workers = [stack.enter_context(worker()) for _ in range(2)]
        while rounds < 15 or forgotten <= 5:  # a busy machine clears less in a round
            rounds += 1
            for process in workers:
                ask(process, path)
            for _ in range(40):
                forgotten += sum(map(forget, entries()[0]))
                time.sleep(0.001)
            for process in workers:
                assert listen(process) | {"folder": None} == expected


def test_a_table_that_another_process_uses_stays(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", 50, 1)
    with worker("holding") as process:
        ask(process, path)
        folder = Path(listen(process)["folder"])
        assert not forget(folder)
        assert folder.exists()
    assert forget(folder)
    assert not folder.exists()


def kill_while_it_writes(path: Path, after: float, *arguments: str) -> None:
    """Kill a process some time after it has begun to write a table, which it does over and over."""
    with worker(*arguments, "forever", str(path)) as process:
        listen(process)
        while not entries()[1]:
            assert process.poll() is None
            time.sleep(0.001)
        time.sleep(after)
        kill_all_of(process)


def check_that_all_is_whole(path: Path) -> None:
    tables, _ = entries()
    for folder in tables:
        EncodedTable.open(folder)
    table = encode_locally(path)
    # What a dead process left is removed by the next one that writes: have one write.
    encode_locally(path, limit=random.Random(str(tables)).randrange(1, 10**6))
    assert entries()[1] == []
    assert digest(table) | {"folder": None} == digest(encode_locally(path, reuse=False)) | {"folder": None}


def write_wide_table(path: Path, columns: int) -> Path:
    """A table whose many files take their time to be written."""
    rows = "".join(",".join(str(row * column % 7) for column in range(columns)) + "\n" for row in range(100))
    path.write_text(",".join(f"c{column}" for column in range(columns)) + "\n" + rows)
    return path


def test_a_process_that_is_killed_leaves_a_whole_table_or_none(tmp_path: Path) -> None:
    path = write_wide_table(tmp_path / "t.csv", 200)
    left_behind = 0
    for step in range(3):
        kill_while_it_writes(path, step * 0.01)
        left_behind += len(entries()[1])
        check_that_all_is_whole(path)
    assert left_behind > 0, "no process was killed while it wrote"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_many_kills(tmp_path: Path) -> None:
    path = write_wide_table(tmp_path / "t.csv", 500)
    moments = random.Random(6)
    left_behind = 0
    for _ in range(20):
        kill_while_it_writes(path, moments.uniform(0, 0.15))
        left_behind += len(entries()[1])
        check_that_all_is_whole(path)
        for folder in entries()[0]:
            discard(folder)
    assert left_behind > 5, "few processes were killed while they wrote"


@pytest.mark.slow
def test_a_driver_of_spark_that_is_killed_leaves_a_whole_table_or_none(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", 20_000, 1)
    for after in (0.1, 0.5):
        kill_while_it_writes(path, after, "spark")
        check_that_all_is_whole(path)


def test_a_reader_is_not_disturbed_by_one_who_discards(tmp_path: Path) -> None:
    """Mapped columns stay readable when the folder goes; columns that were never looked at are gone, and say so."""
    path = write_table(tmp_path / "t.csv", 50, 1)
    table = encode_locally(path)
    mapped = table.column(0)
    before = mapped.tolist()
    assert table.folder is not None
    for file in sorted(table.folder.rglob("*.*")):
        file.unlink()
    assert mapped.tolist() == before
    with pytest.raises(DamagedTableError):
        table.column(1)
