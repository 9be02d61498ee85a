"""The tables of DynASt (EDBT 2023, section 7) measured here, with the paper's figures beside ours.

Theirs are of Java on one core of 1.6 GHz. The baseline is theirs too, Dep-Miner, as `bench.depminer_program` has it:
compiled, on one thread, and so several times as fast as theirs; what we measure against it takes one thread per core.
A speedup of the paper is thus more easily had there than here. The tree keeps sets that no pair has any more, as
section 7.5 suggests, so its deletions only change counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from bench.harness import Case, Measurement, Ran, Settings, run_program
from bench.living_cases import TABLES, living, rounds, tables
from bench.peer import lawful_python

INSERTED = (1, 10, 100, 1000)
DELETED = (1, 10, 50, 75)
PAPER: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "insert": {
        "adult": (439.1, 15.62, 12.13, 9.94),
        "claims_coded_102k": (45.59, 5.83, 0.23, 0.18),
        "flight_1k": (581.64, 74.37, 17.33, 14.36),
        "uniprot": (6610.56, 457.46, 30.82, 27.27),
    },
    "delete": {
        "adult": (439.26, 50.13, 2.62, 0.42),
        "claims_coded_102k": (23.87, 2.97, 0.23, 0.03),
        "flight_1k": (153.39, 28.05, 1.20, 0.14),
        "uniprot": (3984.29, 536.88, 10.53, 0.24),
    },
}
"""Tables 5 and 6: how many times as fast as the baseline."""
PAPER_TREE = {
    "adult": (3.2, 6.11),
    "claims_coded_102k": (0.4, 1.2),
    "flight_1k": (16.95, 34.0),
    "uniprot": (1590.0, 2300.0),
}
"""Table 9: milliseconds to insert and to delete what a batch of 50 rows changes in the tree."""
PAPER_COUNTS = {
    "bridges": 644,
    "iris": 27,
    "adult": 9_555,
    "claims_coded_102k": 512,
    "flight_1k": 19_099,
    "uniprot": 326_698,
}
"""Table 4: distinct agree sets."""
_LIMIT = 300.0
_BATCHES = 10
_BATCH = 50
_QUESTIONS = {"questions": 2000, "tree_questions": 20}
"""Fewer to the tree, which takes long to answer where it is large."""


class Speedup(NamedTuple):
    """How many times as fast as something else; at least so many times where that did not end."""

    times: float
    is_least: bool = False

    def __str__(self) -> str:
        shown = f"{self.times:,.0f}" if self.times >= 100 else f"{self.times:.2f}"
        return f">{shown}" if self.is_least else shown


Speedups = dict[tuple[str, str], list[Speedup]]


def shares(settings: Settings) -> Iterator[Measurement]:
    """Batches of 1 to 1000 % of a table beside a count from scratch and beside Dep-Miner: tables 5 and 6."""
    speedups: Speedups = {}
    baselines: dict[tuple[str, int], Ran] = {}
    for kind, percents in (("insert", INSERTED), ("delete", DELETED)):
        for name, table in tables(settings):
            for percent in percents:
                case = f"{kind} {percent} % of {name}"
                ran = living(case, "share", table=table, kind=kind, percent=percent, rounds=settings.repetitions)
                if ran is None:
                    break
                rows = ran.answer["rows"]
                if (name, rows) not in baselines:
                    baselines[name, rows] = _baseline(table, rows, settings.repetitions)
                yield from _share(case, ran, baselines[name, rows], speedups, (kind, name))
    for kind, percents in (("insert", INSERTED), ("delete", DELETED)):
        for against in ("Dep-Miner", "from scratch"):
            _print_speedups(kind, percents, against, speedups)


def _baseline(table: tuple[str, ...], rows: int, repetitions: int) -> Ran:
    program = [lawful_python(), "-m", "bench.depminer_program", *table, str(rows)]
    once = run_program([*program, "1"], limit=_LIMIT)
    if "stopped_after" in once.answer:
        print(f"  Dep-Miner: {rows:,} rows not done in {_LIMIT:.0f} s")
    elif once.answer["seconds"][0] * repetitions < _LIMIT / 10:
        return run_program([*program, str(repetitions)])
    return once


def _share(case: str, ran: Ran, baseline: Ran, speedups: Speedups, of: tuple[str, str]) -> Iterator[Measurement]:
    counts = {"rows": ran.answer["rows"], "agree_sets": ran.answer["agree_sets"]}
    yield Measurement(case, "lawful, the batch", tuple(ran.answer["batch"]), peak_mb=ran.peak_mb, answers=counts)
    yield Measurement(case, "lawful, from scratch", tuple(ran.answer["scratch"]))
    is_stopped = "stopped_after" in baseline.answer
    seconds = (_LIMIT,) if is_stopped else tuple(baseline.answer["seconds"])
    told = {"stopped": f"not done in {_LIMIT:.0f} s"} if is_stopped else {"agree_sets": baseline.answer["agree_sets"]}
    yield Measurement(case, "Dep-Miner", seconds, peak_mb=baseline.peak_mb, answers=told)
    least = min(ran.answer["batch"])
    kind, name = of
    speedups.setdefault((f"{kind} Dep-Miner", name), []).append(Speedup(min(seconds) / least, is_stopped))
    speedups.setdefault((f"{kind} from scratch", name), []).append(Speedup(min(ran.answer["scratch"]) / least))


def _print_speedups(kind: str, percents: tuple[int, ...], against: str, speedups: Speedups) -> None:
    """One table in the form of the paper's, which has no figures against a count of ours."""
    number, word = ("5", "insertion") if kind == "insert" else ("6", "deletion")
    beside = " (the paper's in brackets)" if against == "Dep-Miner" else ""
    print(f"\n  Table {number}: speedup of {word} over {against}{beside}, least times")
    print(f"  {'':<18}" + "".join(f"{percent:>21} %" for percent in percents))
    for name in TABLES:
        cells = [str(speedup) for speedup in speedups.get((f"{kind} {against}", name), [])]
        if beside:
            cells = [f"{ours} ({paper:g})" for ours, paper in zip(cells, PAPER[kind][name], strict=False)]
        if cells:
            print(f"  {name:<18}" + "".join(f"{cell:>23}" for cell in cells))


def trees(settings: Settings) -> Iterator[Measurement]:
    """What a batch of 50 rows changes in the tree of agree sets, in ours, and questions to them: table 9."""
    lines = []
    for name, table in tables(settings):
        case = f"agree sets of {name} in a tree"
        ran = living(case, "tree", table=table, size=_BATCH, rounds=rounds(settings), **_QUESTIONS)
        if ran is None:
            continue
        counts = {key: ran.answer[key] for key in ("agree_sets", "nodes", "new_sets")}
        for place, what in enumerate(("insert", "delete")):
            for holder in ("tree", "hash table"):
                times = tuple(ran.answer[f"{holder} {what}"])
                yield Measurement(case, f"{holder}, {what}", times, peak_mb=ran.peak_mb, answers=counts)
                lines.append((what, holder, name, 1000 * min(times), PAPER_TREE[name][place]))
        if "subset counts made" in ran.answer:
            yield Measurement(case, "subset counts, made anew", tuple(ran.answer["subset counts made"]))
        for holder, seconds in ran.answer["seconds_per_question"].items():
            speed = {"questions_per_second": round(1 / seconds)}
            yield Measurement(case, f"{holder}, a question", (seconds,), answers=speed)
    print(f"\n  Table 9: milliseconds for what {_BATCH} rows change (the paper's tree in brackets), least times")
    for what in ("insert", "delete"):
        for holder in ("tree", "hash table"):
            cells = [f"{name} {ours:.2f} ({paper:g})" for w, h, name, ours, paper in lines if (w, h) == (what, holder)]
            print(f"  {what:<8}{holder:<12}" + "".join(f"{cell:>34}" for cell in cells))


def counts(settings: Settings) -> Iterator[Measurement]:
    """The agree sets of tables that come in ten batches, and after a quarter has left and come back: table 4.

    Of flight the paper counts one more: its header, read as a row, agrees with no other row on anything.
    """
    for name, table in tables(settings, tuple(PAPER_COUNTS)):
        case = f"{name} in {_BATCHES} batches"
        ran = living(case, "by-batches", table=table, batches=_BATCHES)
        if ran is None:
            continue
        told = {key: ran.answer[key] for key in ("agree_sets", "after a quarter", "rows")}
        told["paper"] = PAPER_COUNTS[name]
        yield Measurement(case, "lawful, a batch", tuple(ran.answer["batch"]), peak_mb=ran.peak_mb, answers=told)
        yield Measurement(case, "lawful, a quarter", tuple(ran.answer["quarter"]))


CASES: dict[str, Case] = {"living-counts": counts, "living-share": shares, "living-tree": trees}
