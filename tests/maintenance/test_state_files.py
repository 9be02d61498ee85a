"""The folder of a state: what is written can be read, damage is found and named, and a writer never gets in the way."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from full_disks import largest_file

from lawful.common.errors import DamagedStateError, SourceError, StateInUseError, UsageError
from lawful.dependencies import Key
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.maintenance import stored_state
from lawful.maintenance.durable_files import Arrays
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import StateFiles, _as_text, _own_checksum
from lawful.maintenance.storing import columns_document, read_table, table_arrays
from lawful.tables.living.living_table import LivingTable
from maintenance.changing_tables import Row, apply, laws_in, make_state, rows_in

FIRST: list[Row] = [(1, 2, 3), (2, 2, None), (3, 4, 3)]
BATCHES: list[tuple[list[Row], list[Row]]] = [
    ([(4, 2, 9), (5, 5, 5)], [(2, 2, None)]),
    ([(0, 7, 7)], []),
    ([], [(1, 2, 3)]),
]


@pytest.fixture(params=["counted", "witnesses"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A state with a base and three batches in its log."""
    path = tmp_path / "state"
    state = make_state(path, FIRST, 3, StateSettings(way=request.param))
    for inserts, deletes in BATCHES:
        apply(state, inserts, deletes)
    state.close()
    return path


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "writer.lock"
    }


def is_damaged(folder: Path, named: str) -> None:
    """Readers and writers say so, name the file, and leave everything as it is."""
    before = files_of(folder)
    for writes in (False, True):
        with pytest.raises(DamagedStateError) as raised:
            LivingState.open(folder, writes=writes)
        assert named in raised.value.message
        assert str(folder) in raised.value.message
    assert files_of(folder) == before


def content_of(folder: Path) -> tuple[list[Row], list[object], list[int]]:
    state = LivingState.open(folder)
    return rows_in(state), sorted(map(str, laws_in(state))), state.table.ids_of(state.table.live_rows()).tolist()


class TestDamage:
    def test_a_flipped_byte_in_any_file_is_found(self, folder: Path) -> None:
        names = list(files_of(folder))
        assert {"state.json", "log/000001.batch", "log/000003.batch", "base-000000/codes.npy"} <= set(names)
        for name in names:
            path = folder / name
            data = path.read_bytes()
            for place in sorted({0, 7, 17, 24, 28, len(data) // 2, 2 * len(data) // 3, len(data) - 1}):
                for flip in (0x01, 0x2A):  # the second makes a blank of a line's end
                    if place < len(data):
                        path.write_bytes(data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :])
                        with pytest.raises(DamagedStateError) as raised:
                            LivingState.open(folder)
                        assert path.name in raised.value.message
            path.write_bytes(data)
        LivingState.open(folder)

    def test_nothing_of_it_is_repaired(self, folder: Path) -> None:
        path = folder / "log" / "000002.batch"
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        is_damaged(folder, "000002.batch")

    @pytest.mark.parametrize("where", ["folder", "files"])
    def test_it_reads_nothing_outside_of_its_folder(self, folder: Path, where: str) -> None:
        shutil.copytree(folder / "base-000000", folder.parent / "elsewhere")
        manifest = json.loads((folder / "state.json").read_bytes())
        if where == "folder":
            manifest["folder"] = "../elsewhere"
        else:
            manifest["files"] = {f"../../elsewhere/{name}": file for name, file in manifest["files"].items()}
        manifest["crc32"] = _own_checksum(manifest)
        (folder / "state.json").write_bytes(_as_text(manifest))
        is_damaged(folder, "elsewhere")

    def test_a_missing_file_is_named(self, folder: Path) -> None:
        for name in files_of(folder):
            if not name.endswith("3.batch"):  # without its last batch a log is that of the version before
                lost = (folder / name).rename(folder.parent / "lost")
                is_damaged(folder, Path(name).name)
                lost.rename(folder / name)
        assert content_of(folder)

    @pytest.mark.parametrize("kept", [0, 10, 32, -1])
    def test_a_truncated_file_is_named(self, folder: Path, kept: int) -> None:
        for name, data in files_of(folder).items():
            (folder / name).write_bytes(data[:kept])
            is_damaged(folder, Path(name).name)
            (folder / name).write_bytes(data)

    def test_batches_cannot_be_exchanged(self, folder: Path) -> None:
        one, other = folder / "log" / "000001.batch", folder / "log" / "000002.batch"
        first, second = one.read_bytes(), other.read_bytes()
        one.write_bytes(second)
        other.write_bytes(first)
        is_damaged(folder, "000001.batch")

    def test_a_batch_of_another_state_is_refused(self, folder: Path, tmp_path: Path) -> None:
        other = make_state(tmp_path / "other", FIRST, 3, StateSettings())
        apply(other, [(9, 9, 9)], [])
        apply(other, [(8, 8, 8)], [])
        other.close()
        shutil.copy(tmp_path / "other" / "log" / "000002.batch", folder / "log" / "000003.batch")
        is_damaged(folder, "000003.batch")

    def test_a_log_that_is_gone(self, folder: Path) -> None:
        shutil.rmtree(folder / "log")
        is_damaged(folder, "log")

    def test_foreign_files_are_left_alone(self, folder: Path) -> None:
        expected = content_of(folder)
        foreign = ["notes.txt", "7.batch", "²²²²²².batch", "x.new", "000009.batch.orig"]
        for name in foreign:
            (folder / "log" / name).write_text("mine")
            (folder / name).write_text("mine")
        assert content_of(folder) == expected
        LivingState.open(folder, writes=True).close()
        assert content_of(folder) == expected
        assert all((folder / name).exists() and (folder / "log" / name).exists() for name in foreign)

    @pytest.mark.parametrize("what", ["nothing", "file", "empty folder"])
    def test_what_is_no_state_is_called_so(self, tmp_path: Path, what: str) -> None:
        path = tmp_path / "there"
        if what == "file":
            path.write_text("a,b\n1,2\n")
        elif what == "empty folder":
            path.mkdir()
        for writes in (False, True):
            with pytest.raises(UsageError, match="is not a state"):
                LivingState.open(path, writes=writes)


class TestMaking:
    def test_it_never_writes_over_anything(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="is a state already"):
            make_state(folder, FIRST, 3, StateSettings())
        occupied = tmp_path / "occupied"
        occupied.mkdir()
        (occupied / "mine.txt").write_text("mine")
        with pytest.raises(UsageError, match="not empty"):
            make_state(occupied, FIRST, 3, StateSettings())
        assert [path.name for path in occupied.iterdir()] == ["mine.txt"]

    def test_an_empty_folder_is_taken(self, tmp_path: Path) -> None:
        make_state(tmp_path, FIRST, 3, StateSettings()).close()
        assert rows_in(LivingState.open(tmp_path)) == FIRST

    def test_one_that_was_killed_is_begun_again(self, tmp_path: Path) -> None:
        made = make_state(tmp_path / "made", FIRST, 3, StateSettings())
        made.close()
        for left in (["log", "writer.lock"], ["log", "writer.lock", "base-000000"], ["log"]):
            path = tmp_path / f"killed-{len(left)}"
            path.mkdir()
            for name in left:
                source = tmp_path / "made" / name
                (shutil.copytree if source.is_dir() else shutil.copy)(source, path / name)
            (path / "base-000000.new").mkdir()
            (path / "state.json.new").write_text("{")
            with pytest.raises(DamagedStateError, match=r"state\.json is missing"):
                LivingState.open(path)
            make_state(path, FIRST, 3, StateSettings()).close()
            assert rows_in(LivingState.open(path)) == FIRST
            assert sorted(files_of(path)) == sorted(files_of(tmp_path / "made"))

    def test_batches_without_their_manifest_are_not_written_over(self, folder: Path) -> None:
        (folder / "state.json").unlink()
        with pytest.raises(UsageError, match="not empty"):
            make_state(folder, FIRST, 3, StateSettings())

    def test_a_row_key_that_is_none_is_refused_before_anything_is_written(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="two rows share the row key c1"):
            make_state(tmp_path / "state", FIRST, 3, StateSettings(row_key=("c1",)))
        with pytest.raises(UsageError, match="no column 'x' for a row key"):
            make_state(tmp_path / "state", FIRST, 3, StateSettings(row_key=("x",)))
        assert not (tmp_path / "state").exists()


class TestKilledWriters:
    def test_what_they_left_is_passed_over_and_then_removed(self, folder: Path) -> None:
        expected = content_of(folder)
        shutil.copytree(folder / "base-000000", folder / "base-000003")
        shutil.copytree(folder / "base-000000", folder / "base-000002.new")
        (folder / "log" / "000004.batch.new").write_bytes(b"lawful-batch/1")
        (folder / "state.json.new").write_bytes(b'{"format"')
        left = set(files_of(folder))
        assert content_of(folder) == expected
        assert set(files_of(folder)) == left
        LivingState.open(folder, writes=True).close()
        assert content_of(folder) == expected
        assert all("new" not in name and "base-000003" not in name for name in files_of(folder))

    def test_batches_that_are_in_the_base_are_passed_over(self, folder: Path) -> None:
        kept = shutil.copytree(folder / "log", folder.parent / "log")
        state = LivingState.open(folder, writes=True)
        state.compact()
        state.close()
        expected = content_of(folder)
        shutil.copytree(kept, folder / "log", dirs_exist_ok=True)
        assert content_of(folder) == expected
        LivingState.open(folder, writes=True).close()
        assert not list((folder / "log").iterdir())


class TestCompaction:
    def test_rows_laws_and_ids_stay(self, folder: Path) -> None:
        expected = content_of(folder)
        state = LivingState.open(folder, writes=True)
        state.compact()
        assert (state.batches_in_log, state.table.version) == (0, 3)
        apply(state, [(8, 8, 8)], [(0, 7, 7)])
        ids = state.table.ids_of(state.table.live_rows()).tolist()
        state.close()
        assert content_of(folder)[2] == ids == [*(expected[2][:-1]), 6]
        assert [path.name for path in (folder / "log").iterdir()] == ["000004.batch"]

    def test_ids_stay_where_the_last_rows_have_left(self, tmp_path: Path) -> None:
        state = make_state(tmp_path / "state", FIRST, 3, StateSettings())
        apply(state, [], FIRST[1:])
        state.compact()
        state.close()
        state = LivingState.open(tmp_path / "state", writes=True)
        assert state.table.ids_of(state.table.live_rows()).tolist() == [0]
        apply(state, [(7, 7, 7)], [])
        assert state.table.ids_of(state.table.live_rows()).tolist() == [0, 3]
        state.close()

    def test_ids_may_be_beyond_32_bits(self, tmp_path: Path) -> None:
        state = make_state(tmp_path / "state", FIRST, 3, StateSettings())
        table, ids = state.table, np.array([3, 2**32, 2**33])
        state.close()
        old = LivingTable("t", table.columns, table.codes, origins=table.origins, ids=ids, next_id=2**33 + 1)
        document = {"name": "t", "columns": columns_document(old), "next_id": old.next_id}
        read = read_table(document, table_arrays(old), 0)
        assert read.ids_of(read.live_rows()).tolist() == ids.tolist()
        assert read.next_id == 2**33 + 1

    def test_twice_at_one_version_it_never_removes_the_base_that_is_in_use(self, folder: Path) -> None:
        state = LivingState.open(folder, writes=True)
        seen = []
        for _ in range(3):
            state.compact()
            seen.append([path.name for path in folder.glob("base-*")])
        state.close()
        assert all(len(names) == 1 for names in seen)
        assert seen[0] != seen[1] != seen[2]

    def test_a_base_that_cannot_be_written_leaves_the_one_before(self, folder: Path) -> None:
        before = files_of(folder)
        state = LivingState.open(folder, writes=True)
        with largest_file(100), pytest.raises(SourceError, match="cannot write to"):
            state.compact()
        assert files_of(folder) == before
        state.compact()
        state.close()

    def test_a_batch_counts_though_no_base_can_be_written_after_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stored_state, "_MOST_LOGGED", 1)
        state = make_state(tmp_path / "state", [(row, row % 3, 0) for row in range(3000)], 3, StateSettings())
        with largest_file(20_000):  # enough for a batch, and not for the codes of all rows
            apply(state, [(-1, 8, 8)], [])
        assert state.batches_in_log == 1
        assert [path.name for path in state.folder.glob("base-*")] == ["base-000000"]
        apply(state, [(-2, 8, 8)], [])
        assert state.batches_in_log == 0
        state.close()
        assert content_of(tmp_path / "state")[0][-2:] == [(-1, 8, 8), (-2, 8, 8)]


class TestWriters:
    def test_there_is_one_at_a_time_and_readers_are_let_in(self, folder: Path) -> None:
        expected = content_of(folder)
        held = (
            "import sys; from pathlib import Path; from lawful.maintenance.state_files import StateFiles\n"
            "files = StateFiles(Path(sys.argv[1])); files.take_lock(); print('held', flush=True); sys.stdin.read()"
        )
        with subprocess.Popen(
            [sys.executable, "-c", held, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == b"held\n"
            with pytest.raises(StateInUseError, match="another process is writing"):
                LivingState.open(folder, writes=True)
            assert content_of(folder) == expected
            other.kill()
        LivingState.open(folder, writes=True).close()

    def test_readers_cannot_write(self, folder: Path) -> None:
        before = files_of(folder)
        state = LivingState.open(folder)
        for write in (
            lambda: apply(state, [(8, 8, 8)], []),
            state.compact,
            lambda: state.pin([Key((0,))], LocalEngine, Watch()),
        ):
            with pytest.raises(UsageError, match="not open for writing"):
                write()
        assert files_of(folder) == before

    def test_a_full_disk_leaves_the_state_as_before_and_the_next_batch_works(self, folder: Path) -> None:
        before, expected = files_of(folder), content_of(folder)
        state = LivingState.open(folder, writes=True)
        with largest_file(100), pytest.raises(SourceError, match="cannot write to") as raised:
            apply(state, [(8, 8, 8)], [(3, 4, 3)], "again")
        assert raised.value.hint is not None
        assert "as it was before this batch" in raised.value.hint
        assert files_of(folder) == before
        assert (rows_in(state), sorted(map(str, laws_in(state)))) == expected[:2]
        apply(state, [(8, 8, 8)], [(3, 4, 3)], "again")
        now = rows_in(state)
        state.close()
        assert content_of(folder)[0] == now == [row for row in expected[0] if row != (3, 4, 3)] + [(8, 8, 8)]

    def test_a_state_that_does_not_fit_on_the_disk_is_not_made(self, tmp_path: Path) -> None:
        with largest_file(100), pytest.raises(SourceError, match="cannot write to") as raised:
            make_state(tmp_path / "state", FIRST, 3, StateSettings())
        assert raised.value.hint == "No state was made."
        make_state(tmp_path / "state", FIRST, 3, StateSettings()).close()
        assert rows_in(LivingState.open(tmp_path / "state")) == FIRST


@pytest.fixture
def files(tmp_path: Path) -> Iterator[StateFiles]:
    made = StateFiles(tmp_path / "state")
    made.create({"sum": 0}, {"total": np.array([0])})
    yield made
    made.close()


def total(arrays: Arrays, batches: list[object]) -> tuple[int, int]:
    return int(arrays["total"][0]), len(batches)


def test_the_size_is_that_of_all_files(files: StateFiles) -> None:
    def there() -> int:
        return sum(path.stat().st_size for path in files.folder.rglob("*") if path.is_file())

    assert files.size() == there()
    files.append({"change": np.arange(5)})
    assert files.size() == there()
    files.compact({"sum": 1}, {"total": np.arange(3)})
    assert files.size() == there()
    files.append({"change": np.arange(7)})
    assert files.size() == there()


def has_seen_too_little(seen: list[tuple[int, int]]) -> bool:
    """Whether readers have met only one base, or never a batch beside it, or always one."""
    return not {logged for _, logged in seen} >= {0, 1} or len({base for base, _ in seen}) < 2


def test_readers_are_never_disturbed_by_compactions(files: StateFiles) -> None:
    """Every batch adds one and every other one is followed by a new base: a reader sees what was when it came."""
    seen: list[tuple[int, int]] = []
    wrong: list[BaseException] = []
    is_over = threading.Event()

    def read() -> None:
        try:
            while not is_over.is_set():
                least = files.version
                reader = StateFiles(files.folder)
                in_base, logged = total(*reader.open())
                seen.append((in_base, logged))
                assert in_base + logged == reader.version >= least
                assert reader.document["sum"] == in_base
        except BaseException as error:
            wrong.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        number = 0
        while number < 300 or (has_seen_too_little(seen) and number < 30_000 and not wrong):
            number += 1
            files.append({"change": np.array([1])})
            if number % 2:
                files.compact({"sum": number}, {"total": np.array([number])})
    finally:
        is_over.set()
        for reader in readers:
            reader.join()
    assert not wrong
    assert not has_seen_too_little(seen)
