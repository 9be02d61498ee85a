"""A discovery from question to report: limits kept, laws written as they are found, results ranked."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TextIO

import numpy as np

from lawful.dependencies import format_law
from lawful.discovery.findings import Block, Findings
from lawful.discovery.questions import Question, Watch
from lawful.errors import UsageError
from lawful.meanings import Measure
from lawful.results.discovery_report import DiscoveryReport
from lawful.runs import Progress, Run

FAMILIES = ("key", "fd")
LATER_FAMILIES = ("canonical-od", "list-od", "pod", "dc")


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
        The share of pairs (g1) or rows (g3) that may break a law; 0 asks for laws that hold.
    min_interest
        Leave out laws whose coverage is smaller; the result then says that it is filtered.
    time_limit
        Seconds after which to stop with what is certain.
    memory_limit
        Bytes that this process may use.
    seed
        Where random numbers start; every seed gives the same laws.
    strategy
        `full` compares all pairs, `hybrid` samples and checks, `auto` takes the quicker.
    """

    find: tuple[str, ...] = ("key", "fd")
    max_size: int | None = None
    error: float = 0.0
    measure: Measure = "g1"
    min_interest: float = 0.0
    time_limit: float | None = None
    memory_limit: int | None = None
    seed: int = 0
    strategy: Literal["auto", "full", "hybrid"] = "auto"

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
        if self.error and self.strategy != "auto":
            raise UsageError("a strategy can be chosen only for laws that hold", "Drop --strategy or --error.")

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


def discover_laws(run: Run, request: Request, progress: Progress, partial: Path | None = None) -> DiscoveryReport:
    """Discover on an opened run; with `partial`, laws are appended to that file as soon as they are certain."""
    from lawful.discovery.approximate import discover_almost
    from lawful.discovery.interest import coverages
    from lawful.discovery.keys_and_fds import discover_keys_and_fds

    _refuse_too_little_memory(run, request.memory_limit)
    question = Question(
        "key" in request.find,
        "fd" in request.find,
        run.null_policy,
        request.max_size,
        request.error,
        request.measure,
        request.seed,
        request.strategy,
    )
    search = discover_almost if request.error else discover_keys_and_fds
    watch = Watch(request.time_limit, request.memory_limit)
    with _PartialFile(partial, run.table.names) as written, run.timed("discover"):
        try:
            found = search(run.table, run.engine, question, watch, written.append, progress)
        except KeyboardInterrupt:
            run.engine.cancel()
            found = Findings(written.blocks, stopped_because="stopped by the user")
    with run.timed("rank"):
        interests = coverages(found.blocks, run.table, run.null_policy, request.seed)
    blocks, interests = _interesting(found.blocks, interests, request.min_interest)
    counts = {"keys": found.count(goal_is_key=True), "fds": found.count(goal_is_key=False), **found.counts}
    settings = {**request.settings(), "null": run.null_policy.value, "engine": run.engine.name}
    return DiscoveryReport(
        run.table,
        settings,
        tuple(blocks),
        tuple(interests),
        found.complete,
        found.stopped_because,
        run.seconds,
        counts,
    )


def _refuse_too_little_memory(run: Run, limit: int | None) -> None:
    if limit is not None and limit < run.table.nbytes + (64 << 20):
        raise UsageError(
            f"the memory limit of {limit >> 20} MB is too small: the encoded table alone takes "
            f"{run.table.nbytes >> 20} MB, and working on it some more",
            "Give at least that and 64 MB, or leave columns out with --columns.",
        )


def _interesting(
    blocks: Sequence[Block], interests: Sequence[np.ndarray], least: float
) -> tuple[list[Block], list[np.ndarray]]:
    """Only the laws that are interesting enough."""
    if least <= 0.0:
        return list(blocks), list(interests)
    kept_blocks, kept_interests = [], []
    for block, interest in zip(blocks, interests, strict=True):
        keep = interest >= least
        kept_blocks.append(Block(block.goal, block.sets[keep], None if block.errors is None else block.errors[keep]))
        kept_interests.append(interest[keep])
    return kept_blocks, kept_interests


class _PartialFile:
    """Laws appended to a file as they are found; it goes when the whole result is written in its place."""

    def __init__(self, path: Path | None, names: Sequence[str]) -> None:
        self._path = path
        self._names = names
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
            self._file.writelines(json.dumps(format_law(law, self._names)) + "\n" for law in block.laws())
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
