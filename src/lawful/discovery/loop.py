"""The one loop of every search that checks: sample, think, check, learn, until nothing new is refuted.

    until all candidates are decided
        compare more pairs of rows, where that is likely to spare checks          sample
        for each batch of candidates that nothing known refutes                   think
            send it to the engine, and take in the verdicts that have come        check, learn
            if too much was wrong, think again before checking more

A family brings a *thinker*: which candidates does the evidence leave open, which laws are certain without a check,
and what does a verdict teach. The loop owns the rest: checks in flight, limits of time and memory, counts and progress.
What is certain goes out through `Search.state` at once, so a search that is stopped keeps it; what stops a search is
caught in one place (`Search.to_the_end`). Checkpoints stand before the engine (`checkpoint.RememberedChecks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from lawful.checks import CheckTask, Verdict
from lawful.common.meanings import Measure
from lawful.dependencies import Law
from lawful.discovery.memory import MemoryKeeper
from lawful.discovery.search import Search
from lawful.engines.stream import CheckStream

Candidate = Any
"""Whatever a thinker tells its candidates apart by."""
Answer = tuple[Candidate, Verdict]

_LONGEST_WAIT = 0.05
"""Seconds between two looks at the limits while no verdict comes."""


class Pace(NamedTuple):
    """How a search puts its candidates to the engine.

    Attributes
    ----------
    calls
        How many batches may be out at once. With one, each batch is learnt from before the next one is thought of.
    batch
        How many candidates make a batch at first; from then on the stream adapts it to the engine (`Search.batch`).
    """

    calls: int = 1
    batch: int = 1024


class Thinker(Protocol):
    """What a family brings to the loop."""

    @property
    def pace(self) -> Pace:
        """How to put candidates to the engine."""

    @property
    def measure(self) -> Measure | None:
        """What to count for each candidate, where an error is allowed; None asks for a verdict and its witness."""

    @property
    def is_done(self) -> bool:
        """Whether all candidates are decided."""

    @property
    def wants_to_think(self) -> bool:
        """Whether to think again now, though candidates are waiting or out: too much of the last thought was wrong."""

    def sample(self) -> None:
        """Compare more pairs of rows, if that is likely to spare checks."""

    def think(self) -> Iterator[Sequence[Candidate]]:
        """Yield the candidates that nothing known refutes, the most telling first, in batches.

        Laws that are certain without a check are stated on the way. An empty batch waits for all verdicts that are
        out, so that what comes after it can build on them.
        """

    def law(self, candidate: Candidate) -> Law:
        """The law that a candidate stands for."""

    def learn(self, answers: Sequence[Answer]) -> None:
        """Take in verdicts: state what holds, and keep the witnesses against what does not."""


def run_loop(search: Search, thinker: Thinker, memory: MemoryKeeper | None = None) -> None:
    """Let a thinker and the engine work together until all candidates are decided; raises at a limit."""
    with CheckStream(search.checks, thinker.pace.calls, thinker.pace.batch) as stream:
        checks = _ChecksUnderWay(search, thinker, stream, memory)
        while not thinker.is_done:
            thinker.sample()
            checks.begin_round()
            for batch in thinker.think():
                checks.send(batch)
                if thinker.wants_to_think:
                    break
            checks.wait(until_idle=True)


class _ChecksUnderWay:
    """The candidates that are out, and what becomes of them."""

    def __init__(self, search: Search, thinker: Thinker, stream: CheckStream, memory: MemoryKeeper | None) -> None:
        self._search, self._thinker, self._stream = search, thinker, stream
        self._look = search.look if memory is None else memory.look
        self._out: dict[int, Candidate] = {}
        self._asked = 0
        self._counts = search.counts
        self._counts.update({name: self._counts.get(name, 0) for name in ("rounds", "checks", "refuted")})
        self._search.batch = stream.batch

    def begin_round(self) -> None:
        """Count a thought, before it begins."""
        self._look()
        self._counts["rounds"] += 1
        self._tell()

    def send(self, batch: Sequence[Candidate]) -> None:
        """Send candidates, and wait until there is room for more; an empty batch waits for everything that is out."""
        if not batch:
            self.wait(until_idle=True, whatever_comes=True)
            return
        tasks = []
        for candidate in batch:
            tasks.append(CheckTask(self._asked, self._thinker.law(candidate), self._thinker.measure))
            self._out[self._asked] = candidate
            self._asked += 1
        self._stream.put(tasks)
        self.wait(until_idle=False)

    def wait(self, *, until_idle: bool, whatever_comes: bool = False) -> None:
        """Take in verdicts until there is room, or nothing is out; or until they are worth another thought."""
        self._take_in(self._stream.take(0))
        while self._stream.running and (until_idle or not self._stream.room):
            if self._thinker.wants_to_think and not whatever_comes:
                return
            self._take_in(self._stream.take(_LONGEST_WAIT))
        self._search.batch = self._stream.batch

    def _take_in(self, verdicts: list[Verdict]) -> None:
        if verdicts:
            self._counts["checks"] += len(verdicts)
            self._counts["refuted"] += sum(not verdict.holds for verdict in verdicts)
            self._thinker.learn([(self._out.pop(verdict.id), verdict) for verdict in verdicts])
            self._tell()
        self._look()

    def _tell(self) -> None:
        counts = self._counts
        self._search.progress(
            f"round {counts['rounds']}: {counts['checks']:,} candidates checked, {counts['refuted']:,} refuted"
        )


class Tally:
    """How much of the last batch, and of the whole thought, was wrong; for thinkers that send one batch at a time.

    Parameters
    ----------
    too_much
        The share of a batch whose refutation shows that the evidence knew too little.
    """

    def __init__(self, too_much: float) -> None:
        self.refuted = 0
        """How many candidates of this thought were refuted."""
        self._too_much = too_much
        self._sent = self._missing = self._wrong = 0

    def begin_thought(self) -> None:
        """Forget the last thought."""
        self.refuted = self._sent = self._missing = self._wrong = 0

    def send(self, batch: Sequence[Candidate]) -> Sequence[Candidate]:
        """Count a batch that goes out."""
        self._sent = self._missing = len(batch)
        self._wrong = 0
        return batch

    def note(self, answers: Sequence[Answer]) -> None:
        """Count verdicts."""
        wrong = sum(not verdict.holds for _, verdict in answers)
        self._missing -= len(answers)
        self._wrong += wrong
        self.refuted += wrong

    @property
    def knew_too_little(self) -> bool:
        """Whether the whole batch has come back, and too much of it was wrong."""
        return self._missing == 0 and self._wrong > self._too_much * self._sent
