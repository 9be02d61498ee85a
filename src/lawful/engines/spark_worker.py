"""What Spark's Python workers do with a pack of checks.

A worker finds the encoded table, maps its columns, and runs the very function that the local engine runs. It
keeps its workspace, with the partitions in it, for the packs that come after. No Spark is imported except to
ask where shipped files were put.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import pickle
import shutil
import tempfile
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from lawful.checks import CheckTask, Workspace, check
from lawful.checks.denials.tree import Path as ConstraintPath
from lawful.checks.denials.tree import distinct_violating_pairs
from lawful.common.arrays import Int32s
from lawful.common.errors import DamagedTableError, LawfulError
from lawful.common.meanings import NullPolicy
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.engines.packing import Pack
from lawful.evidence import AgreeSets, SignVectors, Tile, agree_sets_of_tile
from lawful.evidence.denials.evidence import DenialEvidence, evidence_of_tile
from lawful.tables.encoded_table import METADATA, EncodedTable, checksum, ranks_file, values_file

VERDICTS = "id bigint, holds boolean, first bigint, second bigint, violations bigint, error string"
_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("holds", pa.bool_()),
        ("first", pa.int64()),
        ("second", pa.int64()),
        ("violations", pa.int64()),
        ("error", pa.string()),
    ]
)
AGREE_SETS = "tile bigint, agree_sets binary"
EVIDENCE = "tile bigint, evidence binary"
PAIRS = "pack bigint, pairs binary"
ABSENT = "lawful: the encoded table is not on this worker"
_MOST_WORKSPACES = 2
_FORGET_AFTER = 2 * 86_400
_MANY_OBJECTS = 10_000

Runner = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What Spark runs over the numbers of a task."""
Row = tuple[int, bool | None, int | None, int | None, int | None, str | None]


@dataclass(frozen=True)
class TableReference:
    """How a worker finds a table: the driver's folder, and a digest that tells tables apart."""

    folder: str | None
    digest: str
    width: int

    @staticmethod
    def to(table: EncodedTable, *, shares_files: bool = True) -> TableReference:
        """Refer to a table that stands in a folder; without shared files, only by its digest."""
        assert table.folder is not None
        folder = str(table.folder) if shares_files else None
        return TableReference(folder, digest_of(table.folder), table.width)

    def shipped_names(self) -> dict[str, str]:
        """The files of the table, by the names under which they travel: one namespace holds them all."""
        kinds = (ranks_file, values_file)  # values are needed where a law compares columns or constants
        files = [METADATA, *(file(position) for file in kinds for position in range(self.width))]
        return {f"lawful-{self.digest}-{file.replace('/', '-')}": file for file in files}


def digest_of(folder: Path) -> str:
    """A digest of the metadata, which hold the checksums of all other files."""
    data = (folder / METADATA).read_bytes()
    return f"{checksum(data)}{len(data):x}"


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs besides the tasks."""

    table: TableReference
    null_policy: NullPolicy
    cache_bytes: int
    longest_chain: int | None = None


def pack_runner(packs: Sequence[Pack], settings: WorkerSettings) -> Runner:
    """A task that runs the packs whose numbers it is given."""
    pickled = [pickle.dumps(pack) for pack in packs]  # each by itself: a task reads only its own

    def verdicts(number: int) -> pa.RecordBatch:
        pack = pickle.loads(pickled[number])  # noqa: S301  # it came with this very function
        rows = list(_run_pack(pack, settings))
        columns = zip(*rows, strict=True) if rows else ((),) * len(_SCHEMA)
        arrays = [pa.array(values, type_) for values, type_ in zip(columns, _SCHEMA.types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)

    return _runner(verdicts)


def tile_runner(tiles: Sequence[Tile], columns: Sequence[int], counted: bool, settings: WorkerSettings) -> Runner:
    """A task that compares the pairs of the tiles whose numbers it is given."""

    def compared(number: int, workspace: Workspace) -> bytes:
        return _to_bytes(
            agree_sets_of_tile(workspace.table, settings.null_policy, tiles[number], columns, counted=counted)
        )

    return _payload_runner("tile", "agree_sets", compared, settings)


def evidence_runner(tiles: Sequence[Tile], space: PredicateSpace, counted: bool, settings: WorkerSettings) -> Runner:
    """A task that compares the pairs of the tiles whose numbers it is given, over a predicate space."""

    def compared(number: int, workspace: Workspace) -> bytes:
        table = workspace.valued_table
        return _evidence_to_bytes(evidence_of_tile(table, space, settings.null_policy, tiles[number], counted=counted))

    return _payload_runner("tile", "evidence", compared, settings)


def pairs_runner(packs: Sequence[Sequence[ConstraintPath]], space: PredicateSpace, settings: WorkerSettings) -> Runner:
    """A task that walks the parts of the tree of constraints whose numbers it is given."""

    def walked(number: int, workspace: Workspace) -> bytes:
        out = io.BytesIO()
        np.save(out, distinct_violating_pairs(packs[number], space, workspace, _never), allow_pickle=False)
        return out.getvalue()

    return _payload_runner("pack", "pairs", walked, settings)


def _payload_runner(
    numbered: str, named: str, work: Callable[[int, Workspace], bytes], settings: WorkerSettings
) -> Runner:
    """A task that answers each number with bytes, which are empty where the table is not here."""

    def payload(number: int) -> pa.RecordBatch:
        workspace = _workspace(settings)
        found = b"" if workspace is None else work(number, workspace)
        return pa.RecordBatch.from_pydict({numbered: pa.array([number], pa.int64()), named: [found]})

    return _runner(payload)


def _runner(answer: Callable[[int], pa.RecordBatch]) -> Runner:
    """What answers all the numbers of a task."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield answer(number)
        _spare_the_search_for_garbage()

    return run


def _spare_the_search_for_garbage() -> None:
    """Set aside what this process has loaded: Spark has it looked through for garbage after every task.

    With Numba and some kernels these are 100,000 objects, which take longer than many a task. Few are made later.
    """
    if len(gc.get_objects()) > _MANY_OBJECTS:
        gc.freeze()


def _evidence_to_bytes(found: DenialEvidence) -> bytes:
    out = io.BytesIO()
    arrays = {"less": found.signs.less, "greater": found.signs.greater, "witnesses": found.witnesses}
    arrays |= {} if found.counts is None else {"counts": found.counts}
    np.savez(out, allow_pickle=False, **arrays)  # type: ignore[arg-type]  # NumPy's stub takes keywords for flags
    return out.getvalue()


def evidence_from_bytes(payload: bytes) -> DenialEvidence:
    """Read the evidence that a task found in its tile."""
    with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
        signs = SignVectors(arrays["less"], arrays["greater"])
        return DenialEvidence(signs, arrays.get("counts"), arrays["witnesses"])


def pairs_from_bytes(payload: bytes) -> Int32s:
    """Read the pairs that a task found."""
    pairs: Int32s = np.load(io.BytesIO(payload), allow_pickle=False)
    return pairs


def _never() -> bool:
    return False


def _to_bytes(found: AgreeSets) -> bytes:
    out = io.BytesIO()
    arrays = {"agree": found.agree, "witnesses": found.witnesses}
    arrays |= {} if found.known_differ is None else {"known_differ": found.known_differ}
    arrays |= {} if found.counts is None else {"counts": found.counts}
    np.savez(out, allow_pickle=False, **arrays)  # type: ignore[arg-type]  # NumPy's stub takes keywords for flags
    return out.getvalue()


def agree_sets_from_bytes(payload: bytes, columns: Sequence[int]) -> AgreeSets:
    """Read what a task found in its tile."""
    with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
        return AgreeSets(
            tuple(columns), arrays["agree"], arrays.get("known_differ"), arrays.get("counts"), arrays["witnesses"]
        )


def _run_pack(pack: Pack, settings: WorkerSettings) -> Iterator[Row]:
    workspace = _workspace(settings)
    if workspace is None:
        yield from ((task.id, None, None, None, None, ABSENT) for task in pack)
        return
    if not pack:  # a pack without tasks only asks whether the table is here
        yield (-1, True, None, None, None, None)
    for task in pack:
        yield _run_check(task, workspace)


def _run_check(task: CheckTask, workspace: Workspace) -> Row:
    try:
        verdict = check(task, workspace.table, workspace)
    except LawfulError as error:
        return (task.id, None, None, None, None, str(error))
    first, second = verdict.witness or (None, None)
    return (task.id, verdict.holds, first, second, verdict.violations, None)


_workspaces: OrderedDict[WorkerSettings, Workspace] = OrderedDict()


def _workspace(settings: WorkerSettings) -> Workspace | None:
    """The workspace of this process for a table, made at first use; None where the table is not here."""
    found = _workspaces.get(settings)
    if found is None:
        table = find_table(settings.table)
        if table is None:
            return None
        found = _workspaces[settings] = Workspace(
            table, settings.null_policy, settings.cache_bytes, settings.longest_chain
        )
        while len(_workspaces) > _MOST_WORKSPACES:
            _workspaces.popitem(last=False)
    _workspaces.move_to_end(settings)
    return found


def find_table(reference: TableReference) -> EncodedTable | None:
    """Look where the driver has the table, then on this node, then among the files that Spark shipped."""
    drivers = [Path(reference.folder)] if reference.folder is not None else []
    for folder in (*drivers, _node_folder() / reference.digest):
        with contextlib.suppress(OSError, DamagedTableError):
            if digest_of(folder) == reference.digest:
                return EncodedTable.open(folder, verify=False)
    shipped = _assemble(reference)
    return None if shipped is None else EncodedTable.open(shipped, verify=False)


def _assemble(reference: TableReference) -> Path | None:
    """Link the shipped files into one folder of this node, which all its workers then map."""
    from pyspark import SparkFiles

    sources = {file: Path(SparkFiles.get(name)) for name, file in reference.shipped_names().items()}
    if not all(source.exists() for source in sources.values()):
        return None
    target = _node_folder() / reference.digest
    staging = _node_folder() / f".writing-{uuid.uuid4().hex}"
    for file, source in sources.items():
        place = staging / file
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, place)
        except OSError:  # another file system
            shutil.copyfile(source, place)
    try:
        staging.rename(target)
    except OSError:  # another worker of this node was first
        shutil.rmtree(staging, ignore_errors=True)
    return target


def _node_folder() -> Path:
    """Where this user keeps shipped tables on this node."""
    folder = Path(tempfile.gettempdir()) / f"lawful-tables-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        # Someone else made it first: never read tables from there.
        return Path(tempfile.mkdtemp(prefix="lawful-tables-"))
    for entry in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - entry.stat().st_mtime > _FORGET_AFTER:
                shutil.rmtree(entry, ignore_errors=True)
    return folder
