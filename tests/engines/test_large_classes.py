"""Classes that no task takes: whatever is asked, the answers are those of one process that has all rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from itertools import combinations, pairwise
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from checks.denial_tables import Rows, constraints, encoded
from checks.tables import POLICIES
from examples import one_in
from frames_in_process import EngineInProcess
from hypothesis import example, given
from hypothesis import strategies as st

from lawful.checks import CheckTask, GroupRows, Most, Verdict, Workspace, check
from lawful.checks.kernels.streams import count_larger_before, lengthen
from lawful.common.errors import TooLargeError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Key, Law, ListOD, Predicate, parse_law
from lawful.engines import Engine
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle import classes, deciding, sequences
from lawful.engines.shuffle.cutting import Tiles, cutter, tiles_in_order, together
from lawful.engines.shuffle.sequence_tasks import Carried, TileOfSequence, carried
from lawful.engines.shuffle.tile_pairs import repeated

WIDTH = 5
OPERATORS = ("<", "<=", "=", ">=", ">")


@st.composite
def skewed_rows(draw: st.DrawFn, max_rows: int = 24) -> Rows:
    """Ties, nulls and duplicates; one class with nearly all rows, columns that nearly rise together, and others."""
    size = draw(st.integers(0, max_rows))
    random = np.random.default_rng(draw(st.integers(0, 2**16)))
    rare = draw(st.sampled_from([0.0, 0.1, 0.5]))
    common = np.where(random.random(size) < rare, random.integers(1, 4, size), 1)
    rising = np.arange(size) // draw(st.integers(1, 4)) + 1
    noisy = np.where(random.random(size) < draw(st.sampled_from([0.0, 0.1, 0.5])), random.integers(1, 9, size), rising)
    columns = [common, rising, noisy, random.integers(1, 4, size), random.integers(1, 12, size)]
    for column in columns:
        column[random.random(size) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = 0
    table = np.stack(columns, axis=1)[random.permutation(size)] if draw(st.booleans()) else np.stack(columns, axis=1)
    return [tuple(map(int, row)) for row in table]


def columns(least: int, most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, WIDTH - 1), min_size=least, max_size=most, unique=True)


def _order(chosen: list[int], direction: str) -> Law:
    return CanonicalOD(tuple(chosen[2:]), chosen[0], chosen[1], direction)


def _lists(left: list[int], right: list[int], directions: list[str]) -> Law:
    marks = iter(directions)
    return ListOD(tuple((column, next(marks)) for column in left), tuple((column, next(marks)) for column in right))


def _pointwise(chosen: list[int], operators: list[str], last: str) -> Law:
    return POD(tuple(zip(chosen[1:], operators, strict=False)), (chosen[0], last))


def _two_orders(chosen: list[int], operators: list[str]) -> Law:
    marks = zip(chosen, [*operators, "="], strict=False)
    return DC(tuple(Predicate(Cell("t", column), operator, Cell("s", column)) for column, operator in marks))


DIRECTIONS = st.sampled_from(["asc", "desc"])
LAWS: st.SearchStrategy[Law] = st.one_of(
    st.builds(_order, columns(2, 3), DIRECTIONS),
    st.builds(_order, columns(2, 2).map(lambda pair: [*pair, *({0} - set(pair))]), DIRECTIONS),
    st.builds(_lists, columns(1, 3), columns(1, 3), st.lists(DIRECTIONS, min_size=6, max_size=6)),
    st.builds(
        _pointwise,
        columns(2, 4),
        st.lists(st.sampled_from(OPERATORS), min_size=3, max_size=3),
        st.sampled_from(["<", "<=", "="]),
    ),
    st.builds(_two_orders, columns(2, 3), st.lists(st.sampled_from(["<", "<=", ">", ">="]), min_size=2, max_size=2)),
    constraints(WIDTH, 4),
    constraints(WIDTH, 4),
)

KEYS_AND_FDS: st.SearchStrategy[Law] = st.one_of(
    st.builds(lambda chosen: Key(tuple(chosen)), columns(1, 3)),
    st.builds(lambda chosen: FD(tuple(chosen[1:]), chosen[0]), columns(1, 3)),
)


@contextmanager
def large_from(rows: int) -> Iterator[None]:
    with patch.object(classes, "LARGEST_CLASS", rows):
        yield


def engines_for(rows: Rows, policy: NullPolicy, seed: int) -> tuple[EngineInProcess, LocalEngine]:
    table = encoded(rows, WIDTH)
    local = LocalEngine(1)
    local.open(table, policy)
    return EngineInProcess(rows, table, policy, 5, seed), local


def is_meant(law: Law, policy: NullPolicy) -> bool:
    return policy is NullPolicy.EQUAL or not isinstance(law, ListOD)


def answered(engine: Engine, task: CheckTask) -> Verdict:
    (verdict,) = engine.check([task])
    return verdict


@one_in(2)
@given(skewed_rows(), LAWS | KEYS_AND_FDS, POLICIES, st.sampled_from([2, 3, 6]), st.integers(0, 99), st.booleans())
@example([(1,) * WIDTH] * 3, Key((0,)), NullPolicy.EQUAL, 2, 0, False)  # where a row agrees with itself
def test_verdicts_and_damage(rows: Rows, law: Law, policy: NullPolicy, largest: int, seed: int, prunes: bool) -> None:
    if not is_meant(law, policy):
        return
    engine, local = engines_for(rows, policy, seed)
    with large_from(largest), patch.object(deciding, "can_prune", lambda _: prunes):
        found, plain = answered(engine, CheckTask(7, law, damage=True)), answered(engine, CheckTask(7, law))
        counted = answered(engine, CheckTask(7, law, measure="g1"))
    expected = answered(local, CheckTask(7, law, damage=True))
    assert (found.holds, found.damage, found.witness) == (expected.holds, expected.damage, expected.witness)
    assert plain.holds == expected.holds
    assert counted.violations == (expected.damage.pairs if expected.damage else 0)
    assert (plain.witness is None) == plain.holds
    if plain.witness is not None:
        assert refutes(law, rows, policy, plain.witness)
        assert found.witness is not None
        assert tuple(sorted(found.witness)) == first_of(law, rows, policy)


def first_of(law: Law, rows: Rows, policy: NullPolicy) -> tuple[int, int]:
    return next(pair for pair in combinations(range(len(rows)), 2) if refutes(law, rows, policy, pair))


def refutes(law: Law, rows: Rows, policy: NullPolicy, witness: tuple[int, int]) -> bool:
    table = encoded([rows[row] for row in sorted(witness)], WIDTH)
    return not check(CheckTask(0, law), table, Workspace(table, policy)).holds


@one_in(2)
@given(skewed_rows(), constraints(WIDTH, 4), POLICIES, st.sampled_from([2, 5]), st.integers(0, 99))
def test_two_tiles_find_a_witness(rows: Rows, law: DC, policy: NullPolicy, largest: int, seed: int) -> None:
    """Of every constraint, though most are decided before tiles are asked."""
    engine, _ = engines_for(rows, policy, seed)
    with large_from(largest):
        large = engine._large().classes(law)
        found = engine._large().witness(law, large) if large else None
    if found is not None:
        assert refutes(law, rows, policy, found)
        return
    agreeing: dict[tuple[int, ...], Rows] = defaultdict(list)
    for row in rows:
        agreeing[tuple(row[column] for column in classes.class_columns(law))].append(row)
    for members in agreeing.values():
        judged = [row for row in members if policy is NullPolicy.EQUAL or all(row[i] for i in classes.law_columns(law))]
        if len(judged) > largest:
            table = encoded(members, WIDTH)
            assert check(CheckTask(0, law), table, Workspace(table, policy)).holds


def listed(frame: pa.Table) -> list[list[int]]:
    groups: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for line in frame.to_pylist():
        groups[line["lawful_group"], line["lawful_other"]].append((line["lawful_place"], line["lawful_row"]))
    return sorted([row for _, row in sorted(lines)] for lines in groups.values())


def listed_here(engine: LocalEngine, law: Law, *, in_pairs: bool) -> list[list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for batch in engine.violations(law, in_pairs=in_pairs):
        for group, row in zip(*(batch.column(place).to_pylist() for place in (0, 1)), strict=True):
            groups[group].append(row)
    return sorted(groups.values())


@one_in(2)
@given(skewed_rows(), LAWS, POLICIES, st.sampled_from([2, 6]), st.integers(0, 99))
def test_violating_rows_pairs_and_groups(rows: Rows, law: Law, policy: NullPolicy, largest: int, seed: int) -> None:
    if not is_meant(law, policy):
        return
    engine, local = engines_for(rows, policy, seed)
    for in_pairs in (False, True):
        with large_from(largest):
            found = listed(engine._listed(law, in_pairs=in_pairs).toArrow())
        assert found == listed_here(local, law, in_pairs=in_pairs)
    for most in (Most(None, 3, 2), Most(2, None, None)):
        with large_from(largest):
            groups = engine.violating_groups(law, most)
        expected = sorted(local.violating_groups(law, most._replace(groups=None)), key=_first)
        assert groups == expected[: most.groups]


def _first(group: GroupRows) -> int:
    return group.first


@pytest.mark.parametrize("law", [Key((0,)), FD((0,), 4)], ids=str)
def test_groups_of_keys_and_fds_are_told_too(law: Law) -> None:
    rows = [(1 + (row > 20), row + 1, 1, 1, row % 3 + 1) for row in range(24)]
    engine, local = engines_for(rows, NullPolicy.EQUAL, 0)
    with large_from(5):
        assert engine.violating_groups(law, Most(5)) == local.violating_groups(law, Most(5))


@one_in(2)
@given(skewed_rows(), LAWS, POLICIES, st.sampled_from([2, 6]), st.integers(0, 99))
def test_trials(rows: Rows, law: Law, policy: NullPolicy, largest: int, seed: int) -> None:
    if not is_meant(law, policy):
        return
    engine, local = engines_for(rows, policy, seed)
    task = CheckTask(7, law, trial=True, measures=True)
    with large_from(largest):
        found = answered(engine, task)
    expected = answered(local, task)
    assert found.holds == expected.holds
    assert _numbers(found) == pytest.approx(_numbers(expected), rel=1e-9, abs=1e-9)


def _numbers(verdict: Verdict) -> list[float]:
    assert verdict.trial is not None
    told = [*astuple(verdict.trial), *(verdict.measures or {}).values()]
    return [-1.0 if number is None else float(number) for number in told]


def test_lists_that_take_several_words_are_ordered() -> None:
    far = 2**30
    rows = [(1 + row % 2, far - row, far - row % 5, far - row % 7, 1 + row % 3) for row in range(30)]
    law = ListOD(((0, "asc"), (4, "desc")), ((1, "desc"), (2, "asc"), (3, "asc")))
    engine, local = engines_for(rows, NullPolicy.EQUAL, 3)
    with large_from(8):
        found = answered(engine, CheckTask(0, law, damage=True))
    assert found.damage == answered(local, CheckTask(0, law, damage=True)).damage


def test_removals_are_not_told_where_a_sequence_is_too_long() -> None:
    rows = [(1, row + 1, 30 if row == 0 else row, 1, 1) for row in range(30)]
    law = CanonicalOD((), 1, 2, "asc")
    engine, local = engines_for(rows, NullPolicy.EQUAL, 0)
    expected = answered(local, CheckTask(0, law, damage=True)).damage
    with large_from(8), patch.object(sequences, "MOST_TAILS", 29):
        assert answered(engine, CheckTask(0, law, damage=True)).damage == expected
    with large_from(8), patch.object(sequences, "MOST_TAILS", 28):
        damage = answered(engine, CheckTask(0, law, damage=True)).damage
        assert (damage.rows, damage.groups, damage.pairs) == (expected.rows, expected.groups, expected.pairs)
        assert damage.removals is None
        assert answered(engine, CheckTask(0, law, trial=True)).trial.removals is None
        with pytest.raises(TooLargeError, match="measure by pairs"):
            answered(engine, CheckTask(0, law, measure="g3"))


def test_tiles_that_cannot_hold_a_violation_do_not_meet() -> None:
    rows = [(1, row + 1, row + 1, 1, row % 7 + 1) for row in range(60)]
    law = parse_law("not(t.c1 < s.c1 and t.c2 >= s.c2 and t.c4 != s.c4)", [f"c{i}" for i in range(WIDTH)])
    engine, _ = engines_for(rows, NullPolicy.EQUAL, 0)
    with large_from(10):
        large = engine._large().classes(law)
        meeting = engine._large()._pairs(law, large)._meeting.can_meet
    assert len(meeting) >= 12
    assert not meeting[~np.eye(len(meeting), dtype=np.bool_)].any(), "a tile meets itself at most"


def sorted_batches(rows: list[tuple[int, ...]], names: list[str], size: int) -> list[pa.RecordBatch]:
    table = pa.table({name: pa.array([row[i] for row in rows], pa.int64()) for i, name in enumerate(names)})
    return table.combine_chunks().to_batches(max_chunksize=size)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=30),
    st.integers(1, 5),
    st.integers(1, 7),
    st.lists(st.integers(0, 30), max_size=2),
)
def test_rows_are_found_in_the_tiles_that_they_were_cut_into(
    points: list[tuple[int, int]], size: int, batch: int, cuts: list[int]
) -> None:
    rows = sorted((*point, number) for number, point in enumerate(points))
    bounds = [0, *sorted(min(place, len(rows)) for place in cuts), len(rows)]
    lines, expected = [], []
    for start, end in pairwise(bounds):
        batches = sorted_batches(rows[start:end], ["g", "x", "row"], batch)
        lines += list(cutter([("x",)], size)(iter(batches)))
        expected += [tile.to_pylist() for tile in tiles_in_order(iter(batches), size)]
    if not rows:
        assert not lines
        return
    tiles = Tiles.read(pa.Table.from_batches(lines), ("g", "x", "row"))
    assert tiles.sizes.tolist() == [len(tile) for tile in expected]
    assert max(tiles.sizes) <= size
    for number, tile in enumerate(expected):
        assert len({row["g"] for row in tile}) == 1
        assert (tiles.of(pa.Table.from_pylist(tile)) == number).all()
        corners = tiles.corners.filter(pa.array(tiles.places == number)).column("x").to_pylist()
        values = [row["x"] for row in tile]
        assert (min(corners), max(corners)) == (min(values), max(values))


@given(st.lists(st.integers(0, 6), max_size=25), st.lists(st.integers(0, 25), max_size=3))
def test_what_tiles_tell_of_a_sequence(values: list[int], cuts: list[int]) -> None:
    inverted = [
        any(other > value for other in values[:place]) or any(other < value for other in values[place + 1 :])
        for place, value in enumerate(values)
    ]
    bounds = sorted({0, *(min(place, len(values)) for place in cuts), len(values)})
    pieces = [values[start:end] for start, end in pairwise(bounds)]
    known = carried([((min(piece),), (max(piece),)) for piece in pieces], [0] * len(pieces))
    tiles = [TileOfSequence.of([np.array(piece)], own) for piece, own in zip(pieces, known, strict=True)]
    assert [bool(flag) for tile in tiles for flag in tile.violating] == inverted
    whole = TileOfSequence.of([np.array(values, np.int64)], Carried(None, None))
    assert sum(tile.broken_blocks for tile in tiles) == whole.broken_blocks
    assert [bool(start) for tile in tiles for start in tile.starts[:-1]] == whole.starts[:-1].tolist()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), max_size=20), st.integers(0, 20))
def test_larger_labels_are_counted_batch_by_batch(lines: list[tuple[int, int]], cut: int) -> None:
    tree = np.zeros(6, np.int64)
    found = 0
    for some in (lines[:cut], lines[cut:]):
        labels, counts = (np.array([line[i] for line in some], np.int64) for i in (0, 1))
        found += count_larger_before(labels, counts, tree)
    assert found == sum(
        one[1] * other[1] for place, other in enumerate(lines) for one in lines[:place] if one[0] > other[0]
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=14), st.integers(0, 14))
def test_a_longest_sequence_is_found_batch_by_batch(values: list[tuple[int, int]], cut: int) -> None:
    longest = [0] * len(values)
    for place, value in enumerate(values):
        longest[place] = 1 + max((longest[i] for i in range(place) if values[i] <= value), default=0)
    tails = np.empty((2, max(1, len(values))), np.int64)
    length = 0
    for some in (values[:cut], values[cut:]):
        length = lengthen(np.array(some, np.int64).reshape(-1, 2).T.copy(), tails, length)
    assert length == max(longest, default=0)
    if length > 1:
        assert lengthen(np.array(values, np.int64).T.copy(), tails[:, : length - 1].copy(), 0) == -1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=12), st.integers(1, 5))
def test_rows_are_repeated_for_each_number(ranges: list[tuple[int, int]], most: int) -> None:
    rows, starts = np.arange(len(ranges)), np.array([start for start, _ in ranges], np.int64)
    ends = starts + np.array([length for _, length in ranges], np.int64)
    found = [pair for some in repeated(rows, starts, ends, most) for pair in zip(*some, strict=True)]
    assert found == [(row, n) for row, (start, length) in enumerate(ranges) for n in range(start, start + length)]


def test_rows_of_one_number_come_together() -> None:
    batches = sorted_batches([(number, place) for place, number in enumerate([0, 0, 2, 2, 2, 5])], ["n", "row"], 2)
    found = {number: rows.column("row").to_pylist() for number, rows in together(iter(batches), "n")}
    assert found == {0: [0, 1], 2: [2, 3, 4], 5: [5]}
