"""Canonical order dependencies by DISTOD's reactive lattice (thesis, sections 4 to 9), on any engine.

    jobs = [the constants of the empty context]
    while jobs are waiting or out
        job = the next one
        refute its candidates by the pool, send the others to the engine
        as verdicts arrive: witnesses join the pool; a job with all its verdicts in goes back to the lattice,
        which gives the jobs that have become possible

The lattice (`search.canonical_ods.lattice`) only thinks. Checks are in flight all the time, and no level waits for
another. Beyond the thesis, a candidate is tried against the shared evidence before any check: what a pair of rows that
was seen refutes costs no pass over the table. Columns of one order are worked on once (see `order_classes`).

With an interest threshold, a context below it is not followed further. The thesis counts its candidates as valid,
which changes what is minimal among the others; here they are left undecided, so the result is the complete one without
the laws below the threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from lawful.checks import CheckTask, Verdict
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Law
from lawful.discovery.canonical_ods.questions import CanonicalQuestion
from lawful.discovery.canonical_ods.statements import Statements
from lawful.discovery.findings import Findings
from lawful.discovery.memory import MemoryKeeper
from lawful.discovery.questions import Watch
from lawful.discovery.search import Search, Shared
from lawful.engines.stream import CheckStream
from lawful.evidence import sample_random_pairs
from lawful.search.canonical_ods.kernels.lattice import refuted_columns, refuted_pairs
from lawful.search.canonical_ods.lattice import Ask, Bits, Job, Lattice, Outcome, members, packed_contexts, to_bits
from lawful.tables.ranked_table import has_nulls

_FIRST_PAIRS = 50_000
_FIRST_YIELD = 0.05
_JOBS_A_ROUND = 64
_MOST_JOBS = 1024
_LONGEST_WAIT = 0.2


def discover_by_lattice(search: Search, question: CanonicalQuestion, *, samples: bool = True) -> Findings:
    """Find all minimal FDs and canonical order dependencies that hold; at a limit, what was certain by then.

    Everything that is emitted is final. Unless it `samples` pairs of rows first, the evidence is only what the
    witnesses of refuted candidates show.
    """
    shared = search.shared(question, swaps=True)
    statements = Statements(search, shared.orders, question)
    jobs = _Jobs(search, question, shared, statements)
    try:
        with search.to_the_end():
            statements.state_peeled()
            if samples:
                jobs.sample()
            jobs.run()
    finally:
        statements.hand_out()
    search.counts["partition_drops"] = jobs.partition_drops
    return search.findings


class _Jobs:
    """The loop: jobs that wait, jobs that are out, and the evidence that spares checks.

    Places are those of `orders.columns`; contexts hold only the first of each group of twins.
    """

    def __init__(self, search: Search, question: CanonicalQuestion, shared: Shared, statements: Statements) -> None:
        self.counts = search.counts
        self.counts.update(jobs=0, checks=0, refuted=0, refuted_by_evidence=0)
        table, orders = search.table, shared.orders
        self._memory = MemoryKeeper(search.engine, table, search.watch, question.partition_chain)
        self._search, self._question = search, question
        self._orders, self._statements = orders, statements
        self._columns = columns = orders.columns
        ignores = question.null_policy is NullPolicy.IGNORE
        with_nulls = [place for place, column in enumerate(columns) if ignores and has_nulls(table, column)]
        self._lattice = Lattice(
            len(columns),
            contexts=(1 << orders.groups) - 1,
            droppable=((1 << len(columns)) - 1) & ~to_bits(with_nulls),
            largest=question.max_size,
        )
        by_values = sorted(range(len(columns)), key=lambda place: -table.distinct(columns[place]))
        self._ranks = {place: rank for rank, place in enumerate(by_values)}
        self._evidence = _Evidence(shared, question.seed)
        self._waiting: list[tuple[int, Ask, tuple[int, ...], Job]] = []
        self._out: dict[tuple[Bits, Ask], _JobOut] = {}
        self._asked: dict[int, tuple[_JobOut, int]] = {}
        self._tasks = 0

    @property
    def partition_drops(self) -> int:
        """How often memory ran short and all partitions were dropped."""
        return self._memory.drops

    def sample(self) -> None:
        """Compare some pairs of rows beforehand."""
        self._search.progress("comparing some pairs of rows")
        self._evidence.sample(self._search.watch)

    def run(self) -> None:
        """Work on jobs until none is left; the engine checks while this thread thinks."""
        self._enqueue(self._lattice.start())
        with CheckStream(self._search.checks) as stream:
            while self._waiting or self._out:
                if self._waiting and stream.room:
                    tasks = self._next_tasks(-(-len(self._waiting) // stream.room), stream.batch)
                    if tasks:
                        stream.put(tasks)
                has_more = self._waiting and stream.room
                self._take_in(stream.take(0 if has_more else _LONGEST_WAIT))
                self._memory.look()
                self._statements.hand_out_now_and_then()
                self._search.progress(f"{self.counts['jobs']:,} jobs done, {len(self._waiting):,} waiting")

    def _enqueue(self, jobs: Iterable[Job]) -> None:
        """Small contexts first, as they rule out the most; neighbours share the beginning of their partitions."""
        for job in jobs:
            heappush(self._waiting, (job.context.bit_count(), job.ask, self._chain(job.context), job))

    def _next_tasks(self, share: int, batch: int) -> list[CheckTask]:
        """Take up that share of the waiting jobs, unless they are many or need many checks; most need none at all."""
        tasks: list[CheckTask] = []
        share = min(share, _MOST_JOBS)
        while self._waiting and share > 0 and len(tasks) < batch:
            jobs = [heappop(self._waiting)[-1] for _ in range(min(_JOBS_A_ROUND, len(self._waiting)))]
            share -= len(jobs)
            for job, refuted in self._evidence.refuted(self._interesting(jobs)):
                self.counts["refuted_by_evidence"] += (job.candidates & refuted).bit_count()
                out = _JobOut(job, job.candidates & ~refuted)
                tasks += self._tasks_for(out)
                if out.missing == 0:
                    self._finish(out)
        return tasks

    def _interesting(self, jobs: list[Job]) -> list[Job]:
        """The jobs to go on with; the lattice is told of contexts that cover too few pairs of rows."""
        least = self._question.min_interest
        if least <= 0:
            return jobs
        kept = []
        contexts = packed_contexts([job.context for job in jobs], self._orders.groups)
        for job, covered in zip(jobs, self._statements.coverage.of(contexts), strict=True):
            if covered >= least:
                kept.append(job)
            else:
                self.counts["dull_contexts"] = self.counts.get("dull_contexts", 0) + 1
                self._enqueue(self._lattice.accept(Outcome(job.context, job.ask, 0, is_dull=True)))
        return kept

    def _tasks_for(self, out: _JobOut) -> list[CheckTask]:
        tasks = []
        context = tuple(self._columns[place] for place in members(out.job.context))
        for candidate in members(out.open):
            if out.job.ask is Ask.CONSTANTS and candidate >= self._orders.groups:
                continue  # its twin, which is among the groups, is asked for both
            tasks.append(CheckTask(self._tasks, self._law(context, out.job.ask, candidate)))
            self._asked[self._tasks] = (out, candidate)
            self._tasks += 1
        out.missing = len(tasks)
        if tasks:
            self._out[out.job.context, out.job.ask] = out
        return tasks

    def _law(self, context: tuple[int, ...], ask: Ask, candidate: int) -> Law:
        if ask is Ask.CONSTANTS:
            return FD(context, self._columns[candidate])
        left, right, direction = self._lattice.pairs.candidate(candidate)
        return CanonicalOD(context, self._columns[left], self._columns[right], direction)

    def _take_in(self, verdicts: list[Verdict]) -> None:
        """Note verdicts, learn from their witnesses, and finish the jobs that have all of theirs."""
        self._evidence.learn([verdict.witness for verdict in verdicts if verdict.witness is not None])
        for verdict in verdicts:
            out, candidate = self._asked.pop(verdict.id)
            self.counts["checks"] += 1
            self.counts["refuted"] += not verdict.holds
            if not verdict.holds:
                out.open &= ~(1 << candidate)
            out.missing -= 1
            if out.missing == 0:
                del self._out[out.job.context, out.job.ask]
                self._finish(out)

    def _finish(self, out: _JobOut) -> None:
        """State what holds, and let the lattice react."""
        self.counts["jobs"] += 1
        job, held = out.job, out.open
        if job.ask is Ask.CONSTANTS:
            held = self._with_twins(job, held)
            self._statements.add_fds(job.context, members(held & self._lattice.contexts))
        else:
            self._statements.add_pairs(job.context, members(held))
        self._enqueue(self._lattice.accept(Outcome(job.context, job.ask, held)))

    def _with_twins(self, job: Job, held: Bits) -> Bits:
        """Twins of other order are determined exactly where the first of their group is, or is in the context."""
        held &= self._lattice.contexts
        for place in range(self._orders.groups, self._lattice.width):
            if (held | job.context) >> self._orders.classes[place].group & 1:
                held |= 1 << place
        return held & job.candidates

    def _chain(self, context: Bits) -> tuple[int, ...]:
        """The columns of a context, those with most values first: the order in which its partition is built."""
        return tuple(sorted(self._ranks[place] for place in members(context)))


@dataclass(slots=True)
class _JobOut:
    """A job whose verdicts are coming in: the candidates that are not refuted, and how many verdicts are missing."""

    job: Job
    open: Bits
    missing: int = 0


class _Evidence:
    """What pairs of rows have shown, asked job by job."""

    def __init__(self, shared: Shared, seed: int) -> None:
        self._shared, self._pool, self._seed = shared, shared.pool, seed
        self._width = self._pool.width

    def sample(self, watch: Watch) -> None:
        """Fill the pool with pairs that are likely to tell something."""
        if self._width == 0:
            return
        sample_random_pairs(self._pool, _FIRST_PAIRS, self._seed)
        self._shared.windows.run(_FIRST_YIELD, should_stop=watch.is_over)
        watch.look()

    def learn(self, witnesses: list[tuple[int, int]]) -> None:
        """Let the pairs that refuted one candidate refute others too."""
        self._shared.learn(witnesses)

    def refuted(self, jobs: list[Job]) -> Iterator[tuple[Job, Bits]]:
        """Each job with everything of its kind that is seen not to hold in its context."""
        agree, refuted = self._pool.agree, self._pool.refuted
        for ask, search in ((Ask.CONSTANTS, refuted_columns), (Ask.ORDERS, refuted_pairs)):
            of_kind = [job for job in jobs if job.ask is ask]
            if of_kind:
                contexts = packed_contexts([job.context for job in of_kind], self._width)
                for job, words in zip(of_kind, search(contexts, agree, refuted), strict=True):
                    yield job, int.from_bytes(words.tobytes(), "little")
