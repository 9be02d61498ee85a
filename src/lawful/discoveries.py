"""A discovery from question to report: limits kept, laws written as they are found, results ranked."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np

from lawful.discovery.findings import KEY, Block, Findings
from lawful.discovery.questions import Question, Watch
from lawful.errors import EngineError, UsageError
from lawful.meanings import Measure, NullPolicy
from lawful.results.discovery_report import DiscoveryReport
from lawful.results.packed_laws import NO_RIGHT_SIDE, LawWriter, PackedLaws
from lawful.runs import Progress, Run
from lawful.search import unpack_sets, words_for

if TYPE_CHECKING:
    from lawful.engines import Engine

Strategy = Literal["auto", "full", "hybrid"]

FAMILIES = ("key", "fd")
LATER_FAMILIES = ("canonical-od", "list-od", "pod", "dc")

_WORKING_MEMORY = 64 << 20
"""What working on the smallest table takes, beside the table."""


@dataclass(frozen=True)
class Request:
    """What a user asks of a discovery.

    Parameters
    ----------
    find
        The families of laws: `key`, `fd`.
    max_size
        The most columns of a key or of a left side.
    error, measure
        The share of pairs (g1) or rows (g3) that may break a law; 0 asks for laws that hold, and then the measure
        does not matter.
    min_interest
        Leave out laws whose coverage is smaller; the result then says that it is filtered.
    time_limit
        Seconds of searching after which to stop with what is certain.
    memory_limit
        Bytes that this process may use.
    seed
        Where random numbers start; every seed gives the same laws.
    strategy
        `full` compares all pairs, `hybrid` samples and checks, `auto` takes the quicker.
    """

    find: tuple[str, ...] = FAMILIES
    max_size: int | None = None
    error: float = 0.0
    measure: Measure = "g1"
    min_interest: float = 0.0
    time_limit: float | None = None
    memory_limit: int | None = None
    seed: int = 0
    strategy: Strategy = "auto"

    def __post_init__(self) -> None:
        for family in self.find:
            if family in LATER_FAMILIES:
                raise UsageError(f"laws of the kind {family} cannot be discovered yet", "Use --find key,fd.")
            if family not in FAMILIES:
                raise UsageError(f"unknown kind of law {family!r}", f"Kinds: {', '.join(FAMILIES)}.")
        if not self.find:
            raise UsageError("no kind of law is asked for", f"Kinds: {', '.join(FAMILIES)}.")
        if not 0.0 <= self.min_interest <= 1.0:
            raise UsageError(f"the least interest must lie in [0, 1], and is {self.min_interest}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise UsageError(f"the time limit must be positive, and is {self.time_limit:g}", "Leave it out for none.")
        if self.seed < 0:
            raise UsageError(f"the seed must not be negative, and is {self.seed}")
        self.question(NullPolicy.EQUAL)  # refuses what it cannot mean
        if self.error and self.strategy != "auto":
            raise UsageError("a strategy can be chosen only for laws that hold", "Drop --strategy or --error.")

    def question(self, null_policy: NullPolicy) -> Question:
        """Put the request to the search."""
        return Question(
            "key" in self.find,
            "fd" in self.find,
            null_policy,
            self.max_size,
            self.error,
            self.measure,
            self.seed,
            self.strategy,
        )

    def settings(self) -> dict[str, Any]:
        """All that changes the answer, as plain JSON values."""
        return {
            "find": list(self.find),
            "max_size": self.max_size,
            "error": self.error,
            "measure": self.measure if self.error else None,
            "min_interest": self.min_interest,
            "seed": self.seed,
        }


def families_of(find: str | Iterable[str]) -> tuple[str, ...]:
    """Read the families to find: several names, or one text with commas between them."""
    names = find.split(",") if isinstance(find, str) else find
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def discover_laws(run: Run, request: Request, progress: Progress, partial: Path | None = None) -> DiscoveryReport:
    """Discover on an opened run; with `partial`, laws are appended to that file as soon as they are certain.

    A limit, or Ctrl-C, ends the search with what is certain by then.
    """
    from lawful.discovery.approximate import discover_almost
    from lawful.discovery.interest import coverages
    from lawful.discovery.keys_and_fds import discover_keys_and_fds

    _refuse_too_little_memory(run, request.memory_limit)
    search = discover_almost if request.error else discover_keys_and_fds
    watch = _UserWatch(request.time_limit, request.memory_limit)
    question = request.question(run.null_policy)
    with _PartialFile(partial, run.table.names) as written, run.timed("discover"), _ctrl_c_ends(watch, run.engine):
        try:
            found = search(run.table, run.engine, question, watch, written.append, progress)
        except MemoryError:
            found = Findings(written.blocks, stopped_because="there is not enough memory")
        except EngineError:
            reason = watch.reason()
            if reason is None:
                raise
            found = Findings(written.blocks, stopped_because=reason)  # a job that was cut off is no failure
    progress("ranking what was found")
    with run.timed("rank"):
        interests = coverages(found.blocks, run.table, run.null_policy, request.seed)
        packed = _packed(found.blocks, interests, run.table.width)
        kept = packed if request.min_interest <= 0 else packed.chosen(packed.interests >= request.min_interest)
        ranked = kept.ranked()
    counts = {"keys": found.count(goal_is_key=True), "fds": found.count(goal_is_key=False), **found.counts}
    if request.min_interest > 0:
        counts["left_out"] = len(packed) - len(kept)
    settings = {**request.settings(), "null": run.null_policy.value, "engine": run.engine.name}
    return DiscoveryReport(run.table, settings, ranked, found.complete, found.stopped_because, run.seconds, counts)


def _refuse_too_little_memory(run: Run, limit: int | None) -> None:
    if limit is not None and limit < run.table.nbytes + _WORKING_MEMORY:
        raise UsageError(
            f"the memory limit of {limit >> 20} MB is too small: the encoded table alone takes "
            f"{run.table.nbytes >> 20} MB, and working on it some more",
            f"Give at least that and {_WORKING_MEMORY >> 20} MB, or leave columns out with --columns.",
        )


def _packed(blocks: Sequence[Block], interests: Sequence[np.ndarray], width: int) -> PackedLaws:
    """All blocks as one."""
    if not blocks:
        nothing = np.zeros(0)
        return PackedLaws(np.zeros((0, words_for(width)), np.uint64), np.zeros(0, np.int64), nothing)
    errors = [block.errors for block in blocks if block.errors is not None]
    return PackedLaws(
        np.concatenate([block.sets for block in blocks]),
        np.concatenate([np.full(len(block.sets), _right_side(block), np.int64) for block in blocks]),
        np.concatenate(interests),
        np.concatenate(errors) if errors else None,
    )


def _right_side(block: Block) -> int:
    return NO_RIGHT_SIDE if block.goal == KEY else block.goal


class _UserWatch(Watch):
    """A watch that also ends when the user says so."""

    def __init__(self, seconds: float | None, memory: int | None) -> None:
        super().__init__(seconds, memory)
        self._is_told = False

    def end(self) -> None:
        """Reach the limit now."""
        self._is_told = True

    def reason(self) -> str | None:
        """Why to stop now, if so."""
        return "the user stopped it" if self._is_told else super().reason()


@contextlib.contextmanager
def _ctrl_c_ends(watch: _UserWatch, engine: Engine) -> Iterator[None]:
    """Let the first Ctrl-C end the search as a limit does, so that nothing found is lost; the next one breaks off.

    An exception out of nowhere would have to wait for every thread that is thinking; all of these look at the watch.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or before in (None, signal.SIG_IGN):  # Ctrl-C does not come here, or is not wanted
        yield
        return

    def end(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        watch.end()
        # Not here: a cluster may take its time to answer, and this thread may be in the middle of asking it.
        threading.Thread(target=engine.cancel, daemon=True).start()

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _PartialFile:
    """Laws appended to a file as they are found; it goes when the whole result is written in its place.

    A line holds one law in its notation, as a JSON string: a line that a sudden end has cut is seen to be cut.
    """

    def __init__(self, path: Path | None, names: Sequence[str]) -> None:
        self._path = path
        self._writer = LawWriter(names)
        self._file: TextIO | None = None
        self.blocks: list[Block] = []

    def __enter__(self) -> _PartialFile:
        if self._path is not None:
            try:
                self._file = self._path.open("w", encoding="utf-8")
            except OSError as error:
                raise UsageError(f"cannot write {self._path}: {error.strerror}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def append(self, block: Block) -> None:
        """Keep a block and write its laws, a line each."""
        self.blocks.append(block)
        if self._file is not None:
            right_side, text = _right_side(block), self._writer.text
            self._file.writelines(json.dumps(text(columns, right_side)) + "\n" for columns in unpack_sets(block.sets))
            self._file.flush()


def partial_path(out: Path) -> Path:
    """Where laws are kept while a discovery that will write `out` is under way."""
    return out.with_name(f"{out.name}.partial")


def forget_partial(out: Path) -> None:
    """Remove the partial file once the whole result is written."""
    with contextlib.suppress(OSError):
        partial_path(out).unlink()


_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_memory(text: str) -> int:
    """Read a size such as 512m or 4g."""
    matched = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?\s*", text.lower())
    if matched is None:
        raise UsageError(f"{text!r} is not a size of memory", "Write 512m or 4g.")
    return int(float(matched.group(1)) * _UNITS[matched.group(2)])
