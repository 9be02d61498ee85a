"""Cases of the strongest laws: are they the laws of the clean table, do they hold on other rows, are they luck?

Seconds are those of the search, in this process; what matters are the shares in the answers.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lawful
from bench.fd_cases import described
from bench.harness import Case, Measurement, Missing, Settings
from lawful.dependencies import FD, Law
from lawful.dependencies.folding import follows_from
from lawful.results import StrongestReport

TABLES = ("adult", "hospital_10k", "flights_10k", "tax_10k", "lahman_pitching", "claims_coded_102k")
_FIRST = 20
_STRONG = 0.9
_SLACK = 0.02
"""How much weaker than on its own half a law may be on the other one."""
_DAMAGED = {
    "tax_10k": ("City str", "State str", "Zip int", "Gender str", "MaritalStatus str"),
    "flights_10k": ("Origin str", "OriginCityName str", "OriginState str", "UniqueCarrier str", "DayOfWeek str"),
}


def dirty_hospital(settings: Settings) -> Iterator[Measurement]:
    """Laws of a table with typos: how many of the first hold on the clean table, how many laws of that follow."""
    dirty, clean = (_frame(settings, f"hospital_raha_{state}") for state in ("dirty", "clean"))
    clean.columns = dirty.columns  # the same ones, spelt in another way
    seconds, found = _strongest(dirty)
    held = {each.law.positional for each in lawful.discover(clean, "fd", max_size=1, engine="local")}
    unique = {clean.columns.get_loc(name) for name in clean if clean[name].is_unique}
    wanted = {law for law in held if isinstance(law, FD) and law.lhs and law.lhs[0] not in unique}
    first = [law for statement in found.statements for law in statement.laws][:_FIRST]
    verdicts = lawful.check(clean, [each.text for each in first], engine="local").outcomes
    stated = [each.law.positional for each in found.stated()]
    follow = sum(follows_from(stated, law, clean.shape[1]) for law in wanted)
    yield _told(
        "strength-hospital",
        "hospital_raha_dirty",
        seconds,
        first=len(first),
        first_hold_on_clean=sum(each.holds for each in verdicts),
        laws_of_clean=len(wanted),
        of_these_follow=follow,
    )


def halves(settings: Settings) -> Iterator[Measurement]:
    """Laws that are strong on one half of a table: the share that is as strong on the other half."""
    for name in TABLES:
        try:
            frame = _frame(settings, name)
        except Missing as missing:
            print(f"  passed over: {missing}")
            continue
        shuffled = np.random.default_rng(1).permutation(len(frame))
        one, other = (frame.iloc[half].reset_index(drop=True) for half in np.array_split(shuffled, 2))
        seconds, found = _strongest(one)
        strong = {each.law.positional: each for each in found if (each.strength or 0.0) >= _STRONG}
        there = _strengths(other, list(strong))
        as_strong = sum(there[law] >= (each.strength or 0.0) - _SLACK for law, each in strong.items())
        holds = {law: each for law, each in strong.items() if each.strength == 1.0}
        yield _told(
            "strength-halves",
            name,
            seconds,
            strong=len(strong),
            as_strong=as_strong,
            share=round(as_strong / max(1, len(strong)), 4),
            hold_here=len(holds),
            hold_there_too=sum(there[law] == 1.0 for law in holds),
        )


def accidents(settings: Settings) -> Iterator[Measurement]:
    """Random columns have no strong laws: in ten tables of eight columns, and in 2,000 tables of a pair of columns."""
    del settings
    for name, tables, widths in (("ten tables", 10, 8), ("2,000 pairs of columns", 2_000, 2)):
        began, with_laws = time.perf_counter(), 0
        for seed in range(tables):
            random = np.random.default_rng(seed)
            values = random.choice([2, 3, 5, 9, 20, 60], widths)
            frame = pd.DataFrame({f"c{place}": random.integers(0, most, 400) for place, most in enumerate(values)})
            with_laws += len(lawful.strongest(frame, engine="local")) > 0
        seconds = time.perf_counter() - began
        yield _told("strength-accidents", name, seconds, tables=tables, with_a_law=with_laws)


def damage(settings: Settings) -> Iterator[Measurement]:
    """Typos, swaps and copies in 1 % of the cells of five columns: are the laws of the clean table still found?"""
    for name, columns in _DAMAGED.items():
        clean = _frame(settings, name)
        before = {each.law.positional for each in _strongest(clean)[1].stated() if each.strength == 1.0}
        seconds, found = _strongest(damaged(clean, columns, seed=3))
        stated = [each.law.positional for each in found.stated()]
        kept = sum(follows_from(stated, law, clean.shape[1]) for law in before)
        touched = {clean.columns.get_loc(column) for column in columns}
        of_damaged = [law for law in before if isinstance(law, FD) and {*law.lhs, law.rhs} & touched]
        kept_of_damaged = sum(follows_from(stated, law, clean.shape[1]) for law in of_damaged)
        counts: dict[str, Any] = {"stated_and_hold": len(before), "still_follow": kept}
        counts |= {"on_damaged_columns": len(of_damaged), "of_these_follow": kept_of_damaged}
        yield _told("strength-damage", name, seconds, **counts)


def damaged(clean: pd.DataFrame, columns: tuple[str, ...], seed: int) -> pd.DataFrame:
    """A copy with 1 % of the cells of some columns wrong: a typo, the value of another column, that of another row."""
    random, wrong = np.random.default_rng(seed), clean.astype("string").copy()
    for column in columns:
        place = wrong.columns.get_loc(column)
        for row in random.choice(len(wrong), len(wrong) // 100, replace=False).tolist():
            value = str(wrong.iat[row, place])
            kind = int(random.integers(3))
            if kind == 0 and value:
                at = int(random.integers(len(value)))
                value = f"{value[:at]}x{value[at + 1 :]}"
            elif kind == 1:
                value = str(wrong.iat[row, wrong.columns.get_loc(str(random.choice(columns)))])
            else:
                value = str(wrong.iat[int(random.integers(len(wrong))), place])
            wrong.iat[row, place] = value
    return wrong


def _frame(settings: Settings, name: str) -> pd.DataFrame:
    file, separator, header, _ = described(settings, name)
    frame = pd.read_csv(file, sep=separator, header=0 if header == "1" else None, dtype="string", keep_default_na=False)
    frame.columns = [str(column) for column in frame.columns]
    return frame


def _strongest(frame: pd.DataFrame) -> tuple[float, StrongestReport]:
    """The strongest laws of a table as a file, whose columns get their types."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        began = time.perf_counter()
        found = lawful.strongest(path, engine="local", reuse=False)
        return time.perf_counter() - began, found


def _strengths(frame: pd.DataFrame, laws: list[Law]) -> dict[Law, float]:
    """How strong laws are on a table that has the same columns."""
    from lawful.checks import CheckTask, Workspace, check
    from lawful.common.meanings import NullPolicy

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        table = lawful.strongest(path, max_size=0, engine="local", reuse=False).table
        workspace = Workspace(table, NullPolicy.EQUAL)
        trials = {law: check(CheckTask(0, law, trial=True), table, workspace).trial for law in laws}
    return {law: 0.0 if trial is None else trial.strength for law, trial in trials.items()}


def _told(case: str, table: str, seconds: float, **answers: Any) -> Measurement:
    print(f"  {table:<24} {seconds:6.1f} s  {answers}", flush=True)
    return Measurement(case, table, (seconds,), answers=answers)


CASES: dict[str, Case] = {
    "strength-hospital": dirty_hospital,
    "strength-halves": halves,
    "strength-accidents": accidents,
    "strength-damage": damage,
}
