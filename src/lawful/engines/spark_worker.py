"""What Spark's Python workers do with the tasks of an engine.

A worker finds the encoded table, maps its columns, and runs the very functions that the local engine runs. It
keeps its workspace, with the partitions in it, for the tasks that come after. An answer is a row for each number of a
task: bytes, or the error that kept it from answering.
"""

from __future__ import annotations

import gc
import json
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass

import pyarrow as pa

from lawful.checks import CheckTask, Most, Workspace, check, summarize, violating_rows
from lawful.checks.denials.tree import Path as ConstraintPath
from lawful.checks.denials.tree import distinct_violating_pairs
from lawful.checks.voting.asking import VotingLaw, opinion_of
from lawful.common.arrays import Int32s, Int64s, Ints
from lawful.common.errors import EngineError, LawfulError
from lawful.dependencies import Law
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.engines.class_pairs import compared_classes
from lawful.engines.packing import Pack
from lawful.engines.payloads import (
    array_bytes,
    batch_bytes,
    evidence_bytes,
    opinion_bytes,
    part_bytes,
    sets_bytes,
    swap_bytes,
)
from lawful.engines.refuting_pairs import refuting_pairs_of_rows
from lawful.engines.spark_tables import WorkerSettings, workspace_of
from lawful.evidence import Pool, Rows, Tile, agree_sets_of_rows, agree_sets_of_tile, swaps_of_tile
from lawful.evidence.denials.evidence import evidence_of_tile
from lawful.search.pods.kept_left_sides import LeftSides
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.shown_rows import RowShower, Shown

VERDICTS = (
    "id bigint, holds boolean, first bigint, second bigint, violations bigint, "
    "violating_rows bigint, violating_groups bigint, violating_pairs bigint, removals bigint, trial string, "
    "measures string, error string"
)
_VERDICT_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("holds", pa.bool_()),
        *(
            (name, pa.int64())
            for name in (
                "first",
                "second",
                "violations",
                "violating_rows",
                "violating_groups",
                "violating_pairs",
                "removals",
            )
        ),
        ("trial", pa.string()),
        ("measures", pa.string()),
        ("error", pa.string()),
    ]
)
_NOTHING = (None,) * 10
ANSWERS = "number bigint, answer binary, error string"
_ANSWER_SCHEMA = pa.schema([("number", pa.int64()), ("answer", pa.binary()), ("error", pa.string())])
ABSENT = "lawful: the encoded table is not on this worker"
END = -1
"""The number of the answer that says: there are no more pieces."""

_MANY_OBJECTS = 10_000
_MOST_CURSORS = 2
_BYTES_A_JOB = 16 << 20
"""About as much of a stream comes to the driver at once."""

Runner = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What Spark runs over the numbers of a task."""
Answer = tuple[int, bytes | None, str | None]
Finish = Callable[[Int64s, Int32s], pa.RecordBatch]
"""Makes a batch of the groups and the ids of some violating rows."""


@dataclass(frozen=True)
class ViolationRequest:
    """Which violations to stream, and what to show of their rows; see `Engine.violations`."""

    law: Law
    shown: Shown | None
    in_pairs: bool


def pack_runner(packs: Sequence[Pack], settings: WorkerSettings) -> Runner:
    """A task that runs the packs whose numbers it is given."""
    pickled = [pickle.dumps(pack) for pack in packs]  # each by itself: a task reads only its own

    def verdicts(number: int) -> Iterator[pa.RecordBatch]:
        pack = pickle.loads(pickled[number])  # noqa: S301  # it came with this very function
        rows = list(_run_pack(pack, settings))
        columns = zip(*rows, strict=True) if rows else ((),) * len(_VERDICT_SCHEMA)
        arrays = [pa.array(values, type_) for values, type_ in zip(columns, _VERDICT_SCHEMA.types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=_VERDICT_SCHEMA)

    return _runner(verdicts)


def _run_pack(pack: Pack, settings: WorkerSettings) -> Iterator[tuple[object, ...]]:
    workspace = workspace_of(settings)
    if workspace is None:
        yield from ((task.id, *_NOTHING, ABSENT) for task in pack)
        return
    if not pack:  # a pack without tasks only asks whether the table is here
        yield (END, *_NOTHING, None)
    for task in pack:
        yield _run_check(task, workspace)


def _run_check(task: CheckTask, workspace: Workspace) -> tuple[object, ...]:
    try:
        verdict = check(task, workspace.table, workspace)
    except LawfulError as error:
        return (task.id, *_NOTHING, str(error))
    damage = verdict.damage
    counts = (None,) * 4 if damage is None else (damage.rows, damage.groups, damage.pairs, damage.removals)
    trial = None if verdict.trial is None else json.dumps(astuple(verdict.trial))
    measures = None if verdict.measures is None else json.dumps(dict(verdict.measures))
    judged = (verdict.holds, *(verdict.witness or (None, None)), verdict.violations)
    return (task.id, *judged, *counts, trial, measures, None)


def tile_runner(
    tiles: Sequence[Tile], columns: Sequence[int], counted: bool, settings: WorkerSettings, rows: Rows | None = None
) -> Runner:
    """A task that compares the pairs of the tiles whose numbers it is given: tiles of all pairs, or of some rows."""

    def compared(number: int, workspace: Workspace) -> bytes:
        table, policy, tile = workspace.table, settings.null_policy, tiles[number]
        if rows is None:
            return sets_bytes(agree_sets_of_tile(table, policy, tile, columns, counted=counted))
        return sets_bytes(agree_sets_of_rows(table, policy, rows, tile, columns, counted=counted))

    return _answer_runner(compared, settings)


def refuting_runner(tiles: Sequence[Tile], laws: LeftSides, rows: Rows, settings: WorkerSettings) -> Runner:
    """A task that compares the pairs of the tiles whose numbers it is given, and keeps those that refute a law."""

    def compared(number: int, workspace: Workspace) -> bytes:
        table, policy = workspace.table, settings.null_policy
        return array_bytes(refuting_pairs_of_rows(table, policy, laws, rows, tiles[number]))

    return _answer_runner(compared, settings)


def evidence_runner(tiles: Sequence[Tile], space: PredicateSpace, counted: bool, settings: WorkerSettings) -> Runner:
    """A task that compares the pairs of the tiles whose numbers it is given, over a predicate space."""

    def compared(number: int, workspace: Workspace) -> bytes:
        table, policy = workspace.valued_table, settings.null_policy
        return evidence_bytes(evidence_of_tile(table, space, policy, tiles[number], counted=counted))

    return _answer_runner(compared, settings)


def swaps_runner(tiles: Sequence[Tile], columns: Sequence[int], settings: WorkerSettings) -> Runner:
    """A task that notes the swaps of the pairs of the tiles whose numbers it is given."""

    def compared(number: int, workspace: Workspace) -> bytes:
        return swap_bytes(swaps_of_tile(workspace.table, settings.null_policy, tiles[number], columns))

    return _answer_runner(compared, settings)


def pairs_runner(packs: Sequence[Sequence[ConstraintPath]], space: PredicateSpace, settings: WorkerSettings) -> Runner:
    """A task that walks the parts of the tree of constraints whose numbers it is given."""

    def walked(number: int, workspace: Workspace) -> bytes:
        return array_bytes(distinct_violating_pairs(packs[number], space, workspace, _never))

    return _answer_runner(walked, settings)


def class_pairs_runner(
    sets: Sequence[tuple[int, ...]], most: Sequence[float], columns: tuple[int, ...], settings: WorkerSettings
) -> Runner:
    """A task that compares all pairs of rows that agree on the sets whose numbers it is given."""

    def compared(number: int, workspace: Workspace) -> bytes:
        pool = _pool(columns, workspace, settings)
        return part_bytes(compared_classes(sets[number], pool, workspace, most[number], _never))

    return _answer_runner(compared, settings)


def opinion_runner(laws: Sequence[VotingLaw], rows: Ints | None, settings: WorkerSettings) -> Runner:
    """A task that asks the almost-laws whose numbers it is given what they think of rows."""

    def asked(number: int, workspace: Workspace) -> bytes:
        return opinion_bytes(opinion_of(laws[number], workspace, rows))

    return _answer_runner(asked, settings)


def summary_runner(law: Law, most: Most, settings: WorkerSettings) -> Runner:
    """A task that tells the first groups of violating rows in short."""

    def summarized(_: int, workspace: Workspace) -> bytes:
        return json.dumps(summarize(law, workspace.table, workspace, most)).encode()

    return _answer_runner(summarized, settings)


def schema_runner(shown: Shown, settings: WorkerSettings) -> Runner:
    """A task that tells which types the shown values of rows have."""

    def told(_: int, workspace: Workspace) -> bytes:
        return bytes(RowShower(workspace.valued_table, shown).schema.serialize())

    return _answer_runner(told, settings)


def piece_runner(request: ViolationRequest, settings: WorkerSettings) -> Runner:
    """A task that answers with some pieces of a stream of violating rows, from the number on that it is given."""

    def pieces(first: int, workspace: Workspace) -> Iterator[Answer]:
        cursor = _cursor(request, first, workspace, settings)
        sent = 0
        while sent < _BYTES_A_JOB:
            number, piece = cursor.place, cursor.next()
            if piece is None:
                _cursors.pop((settings, request), None)
                yield END, b"", None
                return
            sent += len(piece)
            yield number, piece, None

    return _answers_runner(pieces, settings)


def row_runner(law: Law, settings: WorkerSettings, finisher: Callable[[EncodedTable], Finish]) -> Runner:
    """A task that gives all violating rows themselves, as batches of what a finisher makes of them."""

    def found(_: int) -> Iterator[pa.RecordBatch]:
        workspace = workspace_of(settings)
        if workspace is None:
            raise EngineError("a Spark worker cannot get the encoded table", "Check the laws again.")
        finish = finisher(workspace.valued_table)
        for groups, rows in violating_rows(law, workspace.table, workspace):
            yield finish(groups, rows)

    return _runner(found)


def _answer_runner(work: Callable[[int, Workspace], bytes], settings: WorkerSettings) -> Runner:
    """A task that answers each number with bytes."""

    def answers(number: int, workspace: Workspace) -> Iterator[Answer]:
        yield number, work(number, workspace), None

    return _answers_runner(answers, settings)


def _answers_runner(work: Callable[[int, Workspace], Iterable[Answer]], settings: WorkerSettings) -> Runner:
    """A task that answers each number with any number of answers, or with the error that it meets."""

    def batches(number: int) -> Iterator[pa.RecordBatch]:
        workspace = workspace_of(settings)
        if workspace is None:
            yield _answer(number, None, ABSENT)
            return
        try:
            for answer in work(number, workspace):
                yield _answer(*answer)
        except LawfulError as error:
            yield _answer(number, None, str(error))

    return _runner(batches)


def _answer(number: int, answer: bytes | None, error: str | None) -> pa.RecordBatch:
    arrays = [
        pa.array([value], type_) for value, type_ in zip((number, answer, error), _ANSWER_SCHEMA.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_ANSWER_SCHEMA)


def _runner(answer: Callable[[int], Iterator[pa.RecordBatch]]) -> Runner:
    """What answers all the numbers of a task."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from answer(number)
        _spare_the_search_for_garbage()

    return run


def _spare_the_search_for_garbage() -> None:
    """Set aside what this process has loaded: Spark has it looked through for garbage after every task.

    With Numba and some kernels these are 100,000 objects, which take longer than many a task. Few are made later.
    """
    if len(gc.get_objects()) > _MANY_OBJECTS:
        gc.freeze()


class _Cursor:
    """A stream of violating rows that is under way: the next job goes on where the last one stopped.

    A job may come to another worker, or come again. Pieces are a function of the request alone, so a worker that does
    not stand at the right one begins anew and passes over the others.
    """

    def __init__(self, request: ViolationRequest, workspace: Workspace) -> None:
        self.place = 0
        self._found = violating_rows(request.law, workspace.table, workspace, in_pairs=request.in_pairs)
        self._shower = RowShower(workspace.valued_table, request.shown)

    def next(self) -> bytes | None:
        """The next piece, None at the end."""
        found = next(self._found, None)
        self.place += 1
        return None if found is None else batch_bytes(self._shower.batch(found.groups, found.rows))

    def go_to(self, place: int) -> None:
        """Pass over the pieces before a place."""
        while self.place < place and next(self._found, None) is not None:
            self.place += 1


_cursors: OrderedDict[tuple[WorkerSettings, ViolationRequest], _Cursor] = OrderedDict()


def _cursor(request: ViolationRequest, place: int, workspace: Workspace, settings: WorkerSettings) -> _Cursor:
    key = (settings, request)
    found = _cursors.pop(key, None)
    if found is None or found.place > place:
        found = _Cursor(request, workspace)
    found.go_to(place)
    _cursors[key] = found
    while len(_cursors) > _MOST_CURSORS:
        _cursors.popitem(last=False)
    return found


_pools: dict[tuple[WorkerSettings, tuple[int, ...]], Pool] = {}


def _pool(columns: tuple[int, ...], workspace: Workspace, settings: WorkerSettings) -> Pool:
    """An empty pool over some columns, kept for the next task: to lay the rows out takes as long as many a task."""
    key = (settings, columns)
    if key not in _pools:
        _pools.clear()
        _pools[key] = Pool(workspace.table, settings.null_policy, columns)
    return _pools[key]


def _never() -> bool:
    return False
