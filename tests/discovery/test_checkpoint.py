"""Checkpoints: what is written is read back, damage costs only what it hits, and a killed driver goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from canonical_oracle import minimal_canonical_laws
from checks.tables import POLICIES, ArrayTable, large_table, tables, with_twins
from discovered_tables import slow_table
from full_disks import largest_file
from hypothesis import given
from hypothesis import strategies as st

from lawful.checks import CheckTask, Verdict
from lawful.common.errors import StoppedError, UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, CanonicalOD, Cell, Key, Law, ListOD, Predicate
from lawful.discovery.canonical_ods.evidence import discover_by_evidence
from lawful.discovery.canonical_ods.lattice import discover_by_lattice
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.checkpoint import Checkpoint, RememberedChecks, fingerprint, remembered
from lawful.discovery.findings import Findings
from lawful.discovery.search import Search
from lawful.engines.local import LocalEngine
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions

TABLE = large_table(seed=2, rows=200)
SETTINGS = {"find": "canonical-od", "null": "equal"}
VERDICTS = {
    (FD((0, 2), 1), None): (True, None, None),
    (FD((), 3), None): (False, (3, 199), None),
    (CanonicalOD((4,), 0, 1, "desc"), None): (False, (0, 1), None),
    (Key((1, 2)), "g1"): (False, None, 12),
    (ListOD(((0, "asc"), (1, "desc")), ((2, "asc"),)), None): (True, None, None),
    (DC((Predicate(Cell("t", 0), "=", Cell("s", 0)), Predicate(Cell("t", 1), "<", Cell("s", 1)))), "g3"): (
        True,
        None,
        0,
    ),
}


def written(path: Path, *, is_complete: bool = False) -> bytes:
    log = Checkpoint(path, TABLE, SETTINGS, resume=False)
    for asked, answer in VERDICTS.items():
        log.append(asked, answer)
    log.close(is_complete=is_complete)
    return path.read_bytes()


def read(path: Path) -> dict:
    log = Checkpoint(path, TABLE, SETTINGS, resume=True)
    log.close(is_complete=False)
    return log.verdicts


def test_verdicts_of_every_family_are_read_back(tmp_path: Path) -> None:
    written(tmp_path / "log")
    assert read(tmp_path / "log") == VERDICTS


@given(data=st.data())
def test_a_log_that_is_cut_anywhere_keeps_its_whole_lines(data: st.DataObject, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("cut") / "log"
    whole = written(path)
    kept = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:kept])
    lines = whole[:kept].count(b"\n")
    expected = dict(list(VERDICTS.items())[: max(0, lines - 1)])
    log = Checkpoint(path, TABLE, SETTINGS, resume=True)
    assert log.verdicts == expected
    log.append((FD((5,), 6), None), (True, None, None))
    log.close(is_complete=False)
    assert read(path) == expected | {(FD((5,), 6), None): (True, None, None)}


@given(data=st.data())
def test_a_damaged_byte_costs_at_most_the_verdicts_that_it_touches(data: st.DataObject, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("damaged") / "log"
    whole = bytearray(written(path))
    header = whole.index(b"\n")
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(whole)
    if place <= header:
        with pytest.raises(UsageError, match="not a checkpoint"):
            read(path)
    else:
        found = read(path)
        assert found.items() <= VERDICTS.items()
        assert len(found) >= len(VERDICTS) - 2


def line(value: object) -> bytes:
    text = json.dumps(value).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


FD_DOCUMENT = {"kind": "fd", "lhs": ["0"], "rhs": "1"}


@pytest.mark.parametrize(
    "value",
    [
        [FD_DOCUMENT, None, False, [0, 200], None],
        [FD_DOCUMENT, None, False, [-1, 3], None],
        [FD_DOCUMENT, None, False, [True, 3], None],
        [FD_DOCUMENT, None, True, [0, 1], None],
        [FD_DOCUMENT, None, False, None, None],
        [FD_DOCUMENT, None, "yes", None, None],
        [FD_DOCUMENT, "g9", True, None, 0],
        [FD_DOCUMENT, "g1", True, None, None],
        [{"kind": "fd", "lhs": ["0"], "rhs": "99"}, None, True, None, None],
        [FD_DOCUMENT, None, True],
        {"law": "A -> B"},
        17,
    ],
    ids=str,
)
def test_lines_that_are_no_verdict_on_the_table_are_passed_over(tmp_path: Path, value: object) -> None:
    path = tmp_path / "log"
    path.write_bytes(written(path) + line(value))
    assert read(path) == VERDICTS


def test_the_log_of_a_run_that_did_not_end_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "log"
    before = written(path)
    with pytest.raises(UsageError, match="did not end"):
        Checkpoint(path, TABLE, SETTINGS, resume=False)
    assert path.read_bytes() == before
    path.unlink()
    written(path, is_complete=True)
    Checkpoint(path, TABLE, SETTINGS, resume=False).close(is_complete=False)
    assert read(path) == {}


def test_resuming_without_a_log_starts_one(tmp_path: Path) -> None:
    assert read(tmp_path / "log") == {}
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0


def test_another_table_or_question_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    before = written(path)
    with pytest.raises(UsageError, match="another table"):
        Checkpoint(path, large_table(seed=3, rows=200), SETTINGS, resume=True)
    with pytest.raises(UsageError, match="null was 'equal' and is 'ignore'"):
        Checkpoint(path, TABLE, SETTINGS | {"null": "ignore"}, resume=True)
    assert path.read_bytes() == before
    assert read(path) == VERDICTS


@pytest.mark.parametrize("content", [b"name,age\nAnn,3\n", b"\x00" * 50, b'12345678 {"format": 1}\n', line({"a": 1})])
@pytest.mark.parametrize("resume", [True, False])
def test_other_files_are_left_alone(tmp_path: Path, content: bytes, resume: bool) -> None:
    path = tmp_path / "precious.csv"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="not a checkpoint"):
        Checkpoint(path, TABLE, SETTINGS, resume=resume)
    assert path.read_bytes() == content


def test_two_runs_do_not_share_a_log(tmp_path: Path) -> None:
    first = Checkpoint(tmp_path / "log", TABLE, SETTINGS, resume=True)
    with pytest.raises(UsageError, match="another run"):
        Checkpoint(tmp_path / "log", TABLE, SETTINGS, resume=True)
    first.close(is_complete=False)
    Checkpoint(tmp_path / "log", TABLE, SETTINGS, resume=True).close(is_complete=True)


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot keep a checkpoint"):
        Checkpoint(tmp_path / "nowhere" / "log", TABLE, SETTINGS, resume=False)


@pytest.mark.parametrize("name", ["/dev/full", "/dev/null", "pipe", "."])
def test_only_a_regular_file_can_be_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(UsageError, match=f"cannot keep a checkpoint in {name}: it is no regular file"):
        Checkpoint(Path(name), TABLE, SETTINGS, resume=True)


def test_a_log_that_cannot_be_written_stops_the_run_and_can_be_resumed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    whole = len(written(path))
    path.unlink()
    with largest_file(whole - 10):
        log = Checkpoint(path, TABLE, SETTINGS, resume=False)
        *first, last = VERDICTS.items()
        for asked, answer in first:
            log.append(asked, answer)
        with pytest.raises(StoppedError, match=f"the checkpoint {path} cannot be written: File too large"):
            log.append(*last)
        log.close(is_complete=True)
    assert read(path) == dict(first)


def test_the_fingerprint_is_that_of_the_ranks() -> None:
    columns = [TABLE.column(i) for i in range(TABLE.width)]
    assert fingerprint(TABLE) == fingerprint(ArrayTable([column.copy() for column in columns]))
    assert fingerprint(TABLE) != fingerprint(ArrayTable(columns[::-1]))
    changed = columns[0].copy()
    changed[17] = changed[17] % 3 + 1
    assert fingerprint(TABLE) != fingerprint(ArrayTable([changed, *columns[1:]]))


class CountingEngine(LocalEngine):
    """The local engine, which also counts its checks, and breaks down after so many."""

    def __init__(self, breaks_after: int | None = None, breaks_by: type[Exception] = RuntimeError) -> None:
        super().__init__(threads=2)
        self.checked: list[Law] = []
        self._breaks_after, self._breaks_by = breaks_after, breaks_by

    def check(self, tasks: Iterable[CheckTask]) -> Iterator[Verdict]:
        tasks = list(tasks)
        laws = {task.id: task.law for task in tasks}
        for verdict in super().check(tasks):
            if self._breaks_after is not None and len(self.checked) >= self._breaks_after:
                raise self._breaks_by("the machine is on fire")
            self.checked.append(laws[verdict.id])
            yield verdict


def test_a_remembered_check_is_the_check(tmp_path: Path) -> None:
    laws = [FD((3, 5), 1), FD((0,), 1), CanonicalOD((), 6, 7, "desc"), CanonicalOD((), 6, 7, "asc"), Key((3,))]
    asked = [(law, measure) for law in laws for measure in (None, "g1", "g3")]
    tasks = [CheckTask(number, law, measure) for number, (law, measure) in enumerate(asked)]
    found = []
    for resume in (False, True):
        engine = CountingEngine()
        engine.open(TABLE, NullPolicy.EQUAL)
        log = Checkpoint(tmp_path / "log", TABLE, SETTINGS, resume=resume)
        found.append(sorted(RememberedChecks(engine, log).check(tasks), key=lambda verdict: verdict.id))
        log.close(is_complete=False)
        assert len(engine.checked) == (0 if resume else len(tasks))
    assert found[0] == found[1]
    assert {verdict.holds for verdict in found[0]} == {True, False}


def laws(found: Findings) -> set[Law]:
    assert found.complete
    return stated(found)


def stated(found: Findings) -> set[Law]:
    return {law for part in (*found.blocks, *found.listings) for law in part.laws()}


def run(
    strategy: str,
    table: ArrayTable,
    engine: LocalEngine,
    question: CanonicalQuestion,
    log: Path | None = None,
    *,
    resume: bool = False,
    **options: Any,
) -> Findings:
    """Discover without sampling, so that there is much to check."""
    engine.open(table, question.null_policy)
    search = Search(table, engine, progress=options.pop("progress", lambda _: None))
    settings = {"find": "canonical-od", "null": question.null_policy.value}
    settings |= {"max_size": question.max_size, "min_interest": question.min_interest}
    with remembered(engine, table, log, settings, lambda: search.findings.complete, resume=resume) as checks:
        search.checks = checks
        if strategy == "lattice":
            return discover_by_lattice(search, question, samples=False)
        return discover_by_evidence(search, question, **{"all_pairs": False, "samples": False} | options)


@pytest.mark.parametrize(
    ("before", "after", "breaks_after"),
    [
        *[(strategy, strategy, checks) for strategy in ("lattice", "evidence") for checks in (1, 40, 200)],
        ("lattice", "evidence", 40),
        ("evidence", "lattice", 40),
    ],
)
def test_a_run_that_broke_down_goes_on_without_asking_again(
    tmp_path: Path, before: str, after: str, breaks_after: int
) -> None:
    """By the same strategy, or by the other one: a verdict is a fact."""
    table = large_table(seed=4, rows=2_000)
    log = tmp_path / "log"
    first = CountingEngine(breaks_after)
    with pytest.raises(RuntimeError, match="on fire"):
        run(before, table, first, CanonicalQuestion(), log)
    second = CountingEngine()
    resumed = laws(run(after, table, second, CanonicalQuestion(), log, resume=True))
    assert not set(first.checked) & set(second.checked)
    assert resumed == laws(run(after, table, CountingEngine(), CanonicalQuestion()))


STRATEGIES = st.sampled_from(["lattice", "evidence"])


@given(data=st.data(), policy=POLICIES, before=STRATEGIES, after=STRATEGIES, stops_after=st.integers(0, 30))
def test_a_run_that_was_stopped_anywhere_ends_with_all_laws(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    policy: NullPolicy,
    before: str,
    after: str,
    stops_after: int,
) -> None:
    log = tmp_path_factory.mktemp("stopped") / "log"
    table = with_twins(data.draw(tables(max_rows=8, max_width=4, min_width=2)), data.draw)
    expected = minimal_canonical_laws(table.as_rows(), table.width, policy)
    first = CountingEngine(stops_after, StoppedError)
    cut = run(before, table, first, CanonicalQuestion(policy), log)
    assert stated(cut) <= expected
    assert stated(cut) == expected or not cut.complete
    second = CountingEngine()
    resumed = run(after, table, second, CanonicalQuestion(policy), log, resume=True)
    assert laws(resumed) == expected
    assert not set(first.checked) & set(second.checked)


def test_comparing_all_pairs_asks_nothing_and_leaves_an_empty_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engine = CountingEngine()
    engine.open(TABLE, NullPolicy.EQUAL)

    def compare(progress: Callable[[str], None], *, resume: bool) -> Findings:
        return run(
            "evidence", TABLE, engine, CanonicalQuestion(), log, resume=resume, progress=progress, all_pairs=True
        )

    def break_while_thinking(message: str) -> None:
        if "thinking" in message:
            raise RuntimeError("the machine is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        compare(break_while_thinking, resume=False)
    assert log.read_bytes().count(b"\n") == 1
    with pytest.raises(UsageError, match="did not end"):
        compare(lambda _: None, resume=False)
    resumed = laws(compare(lambda _: None, resume=True))
    assert engine.checked == []
    assert resumed == laws(run("lattice", TABLE, CountingEngine(), CanonicalQuestion()))


@pytest.mark.parametrize("strategy", ["lattice", "evidence"])
def test_no_strategy_takes_the_log_of_another_question(tmp_path: Path, strategy: str) -> None:
    log = tmp_path / "log"
    run("evidence", TABLE, CountingEngine(), CanonicalQuestion(), log)
    for other, words in [
        (CanonicalQuestion(NullPolicy.IGNORE), "null was 'equal' and is 'ignore'"),
        (CanonicalQuestion(max_size=2), "max_size was None and is 2"),
        (CanonicalQuestion(min_interest=0.5), "min_interest was 0.0 and is 0.5"),
    ]:
        with pytest.raises(UsageError, match=words):
            run(strategy, TABLE, CountingEngine(), other, log, resume=True)


DRIVERS = """
import json
import os
import signal
import sys
from pathlib import Path

import lawful
from lawful.discovery.checkpoint import Checkpoint

source, log, out, find, options = sys.argv[1:]
options = json.loads(options)
append = Checkpoint.append


def discover(**more):
    found = lawful.discover(source, find, engine="local", **options, **more)
    assert found.complete
    return sorted(law.text for law in found)


def be_driver(most):
    def append_and_die(self, asked, answer):
        append(self, asked, answer)
        if most is not None and Path(log).read_bytes().count(b"\\n") > most:
            os.kill(os.getpid(), signal.SIGKILL)

    Checkpoint.append = append_and_die
    Path(out).write_text(json.dumps(discover(checkpoint=log, resume=True)))


whole = discover()  # before the drivers, which find everything imported and loaded
ends = []
for most in (1, 4, None):
    driver = os.fork()
    if driver == 0:
        be_driver(most)
        os._exit(0)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(driver, 0)[1]))
print(json.dumps([ends, whole, json.loads(Path(out).read_text())]))
"""

KILLED: dict[str, tuple[str, int, dict[str, Any]]] = {
    "lattice": ("canonical-od", 14, {"strategy": "lattice"}),
    "evidence": ("canonical-od", 14, {"strategy": "evidence"}),
    "keys and FDs": ("key,fd", 14, {"strategy": "hybrid"}),
    "FDs within an error": ("fd", 8, {"error": 0.02}),
    "list-based": ("list-od", 14, {}),
    "list-based within an error": ("list-od", 6, {"error": 0.2, "max_size": 2}),
    "pointwise": ("pod", 5, {"strategy": "hybrid"}),
    "denial constraints": ("dc", 4, {"strategy": "hybrid"}),
}
"""What is asked of drivers that are killed: families, columns of the table, and options, with something to check."""
QUICK = ("keys and FDs", "lattice")
"""What is tried unless slow tests are asked for."""


@pytest.mark.parametrize(
    "asked", [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in KILLED]
)
def test_a_driver_that_is_killed_again_and_again_ends_with_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setenv("LAWFUL_CACHE", str(tmp_path / "cache"))
    find, width, options = KILLED[asked]
    table = slow_table(4_000)
    folder = encoded_folder(table.select(table.column_names[-width:]), tmp_path)
    log, out = tmp_path / "log", tmp_path / "laws.txt"
    arguments = [str(folder), str(log), str(out), find, json.dumps(options)]
    ended = subprocess.run([sys.executable, "-c", DRIVERS, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    ends, whole, resumed = json.loads(ended.stdout)
    assert ends == [-signal.SIGKILL, -signal.SIGKILL, 0]
    assert resumed == whole
    assert whole


def encoded_folder(table: pa.Table, folder: Path) -> Path:
    from pyarrow import parquet

    parquet.write_table(table, folder / "table.parquet")
    encoded = encode_in_process(folder / "table.parquet", ReadOptions())
    assert encoded.folder is not None
    return encoded.folder
