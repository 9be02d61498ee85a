"""Pinned laws of every family after any batches: verdicts, counts and offenders are those of brute force."""

from __future__ import annotations

import tempfile
from pathlib import Path

import oracle
import pytest
from examples import one_in
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, POD, CanonicalOD, Cell, Constant, Key, Law, ListOD, Predicate
from lawful.dependencies.laws import OPERATORS, POD_LEFT_OPERATORS, POD_RIGHT_OPERATORS
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.maintenance.applied import Applied
from lawful.maintenance.batches import Batch
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.pins import pinned_laws
from lawful.maintenance.settings import StateSettings
from maintenance.changing_tables import Row, changes, incoming, make_state, rows_in, taken
from maintenance.kept_states import Impatient, files_of, is_right

WIDTH = 4
POLICIES = st.sampled_from(list(NullPolicy))
COLUMNS = st.integers(0, WIDTH - 1)
DIRECTIONS = st.sampled_from(["asc", "desc"])
_OTHER_ROW = {"t": "s", "s": "t"}
NULL = -99
"""Stands for null where values are compared: smaller than all, and equal to itself."""


@st.composite
def keys(draw: st.DrawFn) -> Law:
    return Key(tuple(draw(st.sets(COLUMNS, max_size=3))))


@st.composite
def fds(draw: st.DrawFn) -> Law:
    rhs = draw(COLUMNS)
    return FD(tuple(draw(st.sets(COLUMNS, max_size=3)) - {rhs}), rhs)


@st.composite
def canonical_ods(draw: st.DrawFn) -> Law:
    left, right, *context = draw(st.permutations(range(WIDTH)))
    return CanonicalOD(tuple(context[: draw(st.integers(0, 2))]), left, right, draw(DIRECTIONS))


@st.composite
def list_ods(draw: st.DrawFn) -> Law:
    lists = st.lists(st.tuples(COLUMNS, DIRECTIONS), max_size=2, unique_by=lambda marked: marked[0])
    return ListOD(tuple(draw(lists)), tuple(draw(lists)))


@st.composite
def pods(draw: st.DrawFn) -> Law:
    right, *others = draw(st.permutations(range(WIDTH)))
    operators = st.sampled_from(POD_LEFT_OPERATORS)
    left = tuple((column, draw(operators)) for column in others[: draw(st.integers(0, 3))])
    return POD(left, (right, draw(st.sampled_from(POD_RIGHT_OPERATORS))))


@st.composite
def predicates(draw: st.DrawFn) -> Predicate:
    operator, column = draw(st.sampled_from(OPERATORS)), draw(COLUMNS)
    match draw(st.sampled_from(["same", "same", "same", "across", "constant", "row"])):
        case "same":
            return Predicate(Cell("t", column), operator, Cell("s", column))
        case "across":
            return Predicate(Cell("t", column), operator, Cell("s", draw(COLUMNS)))
        case "constant":
            return Predicate(
                Cell(draw(st.sampled_from(["t", "s"])), column), operator, Constant(draw(st.integers(-2, 2)))
            )
    return Predicate(Cell("t", column), operator, Cell("t", (column + 1) % WIDTH))


@st.composite
def dcs(draw: st.DrawFn) -> Law:
    """Constraints; half of them ask both rows for the same, as most do that people write."""
    chosen = draw(st.lists(predicates(), max_size=4))
    if draw(st.booleans()):
        chosen += [_of_other_row(each) for each in chosen if _is_of_one_row(each)]
    return DC(tuple(chosen))


def _is_of_one_row(each: Predicate) -> bool:
    return isinstance(each.right, Constant) or each.left.row == each.right.row


def _of_other_row(each: Predicate) -> Predicate:
    row = _OTHER_ROW[each.left.row]
    right = each.right if isinstance(each.right, Constant) else Cell(row, each.right.column)
    return Predicate(Cell(row, each.left.column), each.operator, right)


LAWS = [keys(), fds(), canonical_ods(), list_ods(), pods(), dcs()]


def as_values(rows: list[Row], policy: NullPolicy) -> list[tuple[int, ...]]:
    """Rows as the oracle takes them; only constraints compare columns, and those by value."""
    null = 0 if policy is NullPolicy.IGNORE else NULL
    shift = 100 if policy is NullPolicy.IGNORE else 0
    return [tuple(null if value is None else value + shift for value in row) for row in rows]


def shifted(law: Law, policy: NullPolicy) -> Law:
    """A law over rows as `as_values` gives them."""
    if policy is NullPolicy.EQUAL or not isinstance(law, DC):
        return law
    moved = [
        Predicate(each.left, each.operator, Constant(each.right.value + 100))
        if isinstance(each.right, Constant)
        else each
        for each in law.predicates
    ]
    return DC(tuple(moved))


def breaks(law: Law, policy: NullPolicy, rows: list[Row]) -> set[tuple[int, int]]:
    """The pairs of rows that break a law, by brute force."""
    if isinstance(law, POD):
        from lawful.dependencies.pointwise import as_denial

        law = as_denial(law)
    return oracle.violating_pairs(shifted(law, policy), as_values(rows, policy), policy)


def fitting(laws: list[Law], policy: NullPolicy) -> list[Law]:
    """List-based orders know nulls as values alone."""
    return [law for law in dict.fromkeys(laws) if policy is NullPolicy.EQUAL or not isinstance(law, ListOD)]


def pins_are_right(state: LivingState, applied: Applied, policy: NullPolicy, new: int, held: list[bool]) -> None:
    numbers, rows = state.table.live_rows().tolist(), rows_in(state)
    place = {number: at for at, number in enumerate(numbers)}
    for law, pinned, before in zip(state.pins, applied.pins, held, strict=True):
        pairs = breaks(law, policy, rows)
        involved = {row for pair in pairs for row in pair}
        assert (pinned.holds, pinned.violating, pinned.pairs) == (not pairs, len(involved), len(pairs)), pinned.text
        assert pinned.held == before
        if pairs:
            assert pinned.witness is not None
            assert tuple(sorted(place[row] for row in pinned.witness)) in pairs
        else:
            assert pinned.witness is None
        first_new = len(rows) - new
        assert [place[row] for row, _ in pinned.offenders.tolist()] == sorted(r for r in involved if r >= first_new)
        for row, partner in pinned.offenders.tolist():
            assert tuple(sorted((place[row], place[partner]))) in pairs


def apply_rows(
    state: LivingState, come: list[Row], go: list[Row], offenders: str = "keep", watch: Watch | None = None
) -> Applied:
    batch = Batch(
        f"batch {state.table.version}",
        incoming(state, come) if come else None,
        incoming(state, go) if go else None,
        offenders=offenders,  # type: ignore[arg-type]  # a text, which is checked
    )
    return state.apply(batch, lambda: LocalEngine(threads=1), watch or Watch())


def settings_of(policy: NullPolicy, only_pinned: bool) -> StateSettings:
    return StateSettings((), policy, only_pinned=True) if only_pinned else StateSettings(null=policy)


@given(data=st.data(), policy=POLICIES, reopens=st.booleans(), only_pinned=st.booleans(), slice_=st.integers(1, 8))
@one_in(1)
def test_pinned_laws_after_batches_are_as_brute_force_says(
    data: st.DataObject, policy: NullPolicy, reopens: bool, only_pinned: bool, slice_: int
) -> None:
    first, batches = data.draw(changes(WIDTH, most=8))
    pins = fitting([data.draw(family) for family in LAWS], policy)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pinned_laws, "_ROWS_A_LOOK", slice_)
        path = Path(folder) / "state"
        state = make_state(path, first, WIDTH, settings_of(policy, only_pinned), pins)
        for come, share in batches:
            before = rows_in(state)
            held = [not breaks(law, policy, before) for law in pins]
            applied = apply_rows(state, come, taken(before, share))
            pins_are_right(state, applied, policy, len(come), held)
            is_right(state)
            if reopens:
                state.close()
                state = LivingState.open(path, writes=True)
        state.close()


def put_aside_by_brute_force(
    pins: list[Law], policy: NullPolicy, table: list[Row], come: list[Row]
) -> tuple[list[Row], list[tuple[int, int]]]:
    """The rows afterwards, and which new ones are left out for which law: one by one, in their order."""
    aside = []
    for number, row in enumerate(come):
        grown = [*table, row]
        broken = [n for n, law in enumerate(pins) if any(len(table) in pair for pair in breaks(law, policy, grown))]
        if broken:
            aside.append((number, broken[0]))
        else:
            table = grown
    return table, aside


@given(data=st.data(), policy=POLICIES)
@one_in(1)
def test_rows_that_would_break_a_pinned_law_are_put_aside_one_by_one(data: st.DataObject, policy: NullPolicy) -> None:
    first, batches = data.draw(changes(WIDTH, most=8))
    pins = fitting([data.draw(data.draw(st.sampled_from(LAWS))) for _ in range(2)], policy)
    with tempfile.TemporaryDirectory() as folder:
        state = make_state(Path(folder) / "state", first, WIDTH, settings_of(policy, True), pins)
        for come, share in batches:
            before = rows_in(state)
            go = taken(before, share)
            staying = list(before)
            for row in go:
                staying.remove(row)
            held = [not breaks(law, policy, before) for law in pins]
            expected, aside = put_aside_by_brute_force(pins, policy, staying, come)
            applied = apply_rows(state, come, go, "quarantine")
            assert sorted(map(str, rows_in(state))) == sorted(map(str, expected))
            assert [(each.row, each.pin) for each in applied.put_aside] == aside
            pins_are_right(state, applied, policy, len(come) - len(aside), held)
            for each in applied.put_aside:
                partner = numbered(state)[each.partner] if each.partner >= 0 else come[each.new_partner]
                assert (each.partner >= 0) != (each.new_partner >= 0)
                assert breaks(pins[each.pin], policy, [partner, come[each.row]])
        state.close()


@given(data=st.data(), patience=st.integers(0, 12), offenders=st.sampled_from(["keep", "quarantine"]))
@one_in(2)
def test_a_batch_that_is_stopped_changes_nothing(data: st.DataObject, patience: int, offenders: str) -> None:
    first, batches = data.draw(changes(WIDTH, most=8))
    pins = fitting([data.draw(family) for family in LAWS], NullPolicy.EQUAL)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pinned_laws, "_ROWS_A_LOOK", 2)
        patch.setattr(pinned_laws, "_TRIED_AT_ONCE", 2)
        state = make_state(Path(folder) / "state", first, WIDTH, settings_of(NullPolicy.EQUAL, True), pins)
        for come, share in batches:
            before, gone = (files_of(Path(folder)), rows_in(state)), taken(rows_in(state), share)
            try:
                apply_rows(state, come, gone, offenders, Impatient(patience))
            except StoppedError:
                assert (files_of(Path(folder)), rows_in(state)) == before
                apply_rows(state, come, gone, offenders)
            is_right(state)
        state.close()


def numbered(state: LivingState) -> dict[int, Row]:
    """The live rows by their numbers."""
    return dict(zip(state.table.live_rows().tolist(), rows_in(state), strict=True))
