"""A generated table of tax payers that obeys known laws, and a few planted errors that break them.

Each row is a person with an address, a salary and the tax rate and exemptions that follow from them. By
construction, before any error is planted:

- `key(area_code, phone)`: no two people share a number;
- `zip -> city`, `zip -> state`, `area_code -> state`: places nest;
- `state, salary -> rate`, `{state}: salary asc ~ rate asc`: each state taxes by its own rising brackets;
- `state, marital_status -> single_exemption`, `state, marital_status -> married_exemption` and
  `state, has_child -> child_exemption`: exemptions follow from status and state.

The same size and seed always give the same table. An error changes one cell of one row, each in a row of its
own, so that the rows to blame are known exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil

import numpy as np
import pyarrow as pa

from lawful.common.errors import UsageError

LAWS = (
    "key(area_code, phone)",
    "zip -> city",
    "zip -> state",
    "area_code -> state",
    "state, salary -> rate",
    "{state}: salary asc ~ rate asc",
    "state, marital_status -> single_exemption",
    "state, marital_status -> married_exemption",
    "state, has_child -> child_exemption",
)
"""The laws that the table obeys where no error is planted."""

_STATES = (
    "AK AL AR AZ CA CO CT DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK "
    "OR PA RI SC SD TN TX UT VA VT WA WI WV WY"
).split()
_AREAS_A_STATE = 4
_CITIES_A_STATE = 24
_ZIPS_A_CITY = 3
_BRACKETS = 12
_SALARY_STEP = 500
_MOST_SALARY_STEPS = 400
_NUMBERS_AN_AREA = 10_000_000


@dataclass(frozen=True)
class PlantedError:
    """One changed cell and the laws that it breaks."""

    row: int
    column: str
    was: str
    now: str
    breaks: tuple[str, ...]


@dataclass(frozen=True)
class MadeTable:
    """The table and the errors that were planted in it."""

    table: pa.Table
    errors: tuple[PlantedError, ...]


def make_tax_table(rows: int, errors: int = 0, seed: int = 7) -> MadeTable:
    """Generate the table.

    Parameters
    ----------
    rows
        How many people.
    errors
        How many cells to change; a small table has no room for many, since right rows must outvote each.
    seed
        Where the random numbers start.
    """
    if rows < 0 or errors < 0:
        raise UsageError("the numbers of rows and errors must not be negative")
    random = np.random.default_rng(seed)
    columns = _people(rows, random)
    planted = _plant(columns, errors, random)
    return MadeTable(pa.table(columns), planted)


def _people(rows: int, random: np.random.Generator) -> dict[str, np.ndarray]:
    state = random.choice(len(_STATES), rows, p=_population_shares())
    area = random.integers(0, _AREAS_A_STATE, rows)
    city = random.integers(0, _CITIES_A_STATE, rows)
    zip_of_city = random.integers(0, _ZIPS_A_CITY, rows)
    salary_steps = np.minimum(random.gamma(2.2, 45.0, rows).astype(np.int64), _MOST_SALARY_STEPS)
    married = random.random(rows) < 0.55
    has_child = random.random(rows) < np.where(married, 0.6, 0.2)
    first, last = random.integers(0, len(_FIRST_NAMES), rows), random.integers(0, len(_LAST_NAMES), rows)
    single, both, child = _exemptions()
    cities = _city_names()
    return {
        "first_name": _FIRST_NAMES[first],
        "last_name": _LAST_NAMES[last],
        "gender": np.where(random.random(rows) < 0.5, "F", "M"),
        "area_code": 200 + state * _AREAS_A_STATE + area,
        "phone": _phone_numbers(rows, random),
        "city": cities[state, city],
        "state": np.array(_STATES)[state],
        "zip": 10_000 + (state * _CITIES_A_STATE + city) * _ZIPS_A_CITY + zip_of_city,
        "marital_status": np.where(married, "M", "S"),
        "has_child": np.where(has_child, "Y", "N"),
        "salary": salary_steps * _SALARY_STEP,
        "rate": _rates()[state, salary_steps],
        "single_exemption": np.where(married, 0, single[state]),
        "married_exemption": np.where(married, both[state], 0),
        "child_exemption": np.where(has_child, child[state], 0),
    }


def _population_shares() -> np.ndarray:
    """States differ in size, as real ones do: the n-th has a share of about 1 / (n + 4)."""
    shares = 1.0 / (np.arange(len(_STATES)) + 4.0)
    return np.asarray(shares / shares.sum())


def _phone_numbers(rows: int, random: np.random.Generator) -> np.ndarray:
    """Seven digits that no two rows share while there are enough of them."""
    if rows > _NUMBERS_AN_AREA:
        return np.asarray(np.arange(rows, dtype=np.int64) + 1_000_000)
    start = int(random.integers(0, _NUMBERS_AN_AREA))
    # A step that shares no factor with ten million visits every number before it repeats one.
    return np.asarray((start + np.arange(rows, dtype=np.int64) * 7_368_787) % _NUMBERS_AN_AREA)


def _rates() -> np.ndarray:
    """The rate of each state at each salary: brackets that rise, from 0 for the lowest."""
    random = np.random.default_rng(1)
    steps = np.arange(_MOST_SALARY_STEPS + 1)
    rates = np.zeros((len(_STATES), len(steps)))
    for state in range(len(_STATES)):
        limits = np.sort(random.choice(steps[1:], _BRACKETS, replace=False))
        levels = np.round(np.cumsum(random.uniform(0.1, 0.9, _BRACKETS)), 2)
        rates[state] = np.concatenate(([0.0], levels))[np.searchsorted(limits, steps, side="right")]
    return rates


def _exemptions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Exemptions of each state for single and married people and for a child."""
    random = np.random.default_rng(2)
    single = 100 * random.integers(5, 60, len(_STATES))
    return single, 2 * single + 100, 50 * random.integers(2, 40, len(_STATES))


def _city_names() -> np.ndarray:
    """Names of cities; some recur in several states, so that a city's name alone tells no state."""
    heads = ["North", "South", "East", "West", "New", "Old", "Lake", "Mount"]
    tails = ["haven", "field", "ford", "ville", "burg", "ton", "brook", "wood"]
    names = np.array([f"{head} {tail.title()}" for head, tail in product(heads, tails)])
    random = np.random.default_rng(3)
    return np.array([random.choice(names, _CITIES_A_STATE, replace=False) for _ in _STATES])


_FIRST_NAMES = np.array(
    "Ada Alan Anna Ben Carla Chen Dana David Elif Emma Farid Fiona Grace Hana Hugo Ines Ivan Jamal Jana Kai Lena "
    "Liam Maria Mei Nadia Noah Olga Omar Paul Priya Quinn Rosa Sami Sara Tariq Tess Uma Victor Wei Yara".split()
)
_LAST_NAMES = np.array(
    "Abbott Alvarez Baker Chen Costa Diaz Evans Fischer Garcia Haddad Ibrahim Jansen Kaya Khan Kim Kowalski Lopez "
    "Meyer Moreau Nguyen Novak Okafor Olsen Patel Quist Rossi Sato Silva Singh Smith Tanaka Ueda Vega Weber Wu "
    "Yilmaz Young Zhang Ziegler Zuma".split()
)
Columns = dict[str, np.ndarray]
_MOST_TRIES = 2_000
_FEWEST_VOTERS = 3
_KINDS = 6


def _plant(columns: Columns, errors: int, random: np.random.Generator) -> tuple[PlantedError, ...]:
    """Change one cell in each of some rows, taking the kinds of error in turn."""
    planter = _Planter(columns, random, errors)
    kinds = (
        planter.wrong_zip,
        planter.wrong_city,
        planter.repeated_phone,
        planter.wrong_area_code,
        planter.wrong_rate,
        planter.wrong_child_exemption,
    )
    return tuple(kinds[number % _KINDS]() for number in range(errors))


class _Planter:
    """Plants errors such that mending each takes the removal of one row: the right rows outvote the wrong."""

    def __init__(self, columns: Columns, random: np.random.Generator, errors: int) -> None:
        self._columns = columns
        self._random = random
        self._touched = np.zeros(len(columns["zip"]), np.bool_)
        # Where errors of a kind share a class of rows, so many right ones outvote them all, even when each
        # of these errors also takes a right row away.
        self._voters = max(_FEWEST_VOTERS, 2 * ceil(errors / _KINDS) + 1)

    def wrong_zip(self) -> PlantedError:
        """The zip of a city with another name in another state."""
        for row, model in self._tries():
            differs = self._differ(row, model, "state") and self._differ(row, model, "city")
            if differs and self._is_untouched(self._like(row, "zip")) and self._outvoted(self._like(model, "zip")):
                now = self._columns["zip"][model]
                return self._change(row, "zip", now, "zip -> city", "zip -> state")
        raise _too_small()

    def wrong_city(self) -> PlantedError:
        """The city of someone else."""
        for row, model in self._tries():
            if self._differ(row, model, "city") and self._outvoted(self._like(row, "zip", without=row)):
                return self._change(row, "city", self._columns["city"][model], "zip -> city")
        raise _too_small()

    def repeated_phone(self) -> PlantedError:
        """The number of someone else in the same area."""
        for row, _ in self._tries():
            others = np.flatnonzero(self._like(row, "area_code", without=row) & ~self._touched)
            if len(others):
                self._touched[others[0]] = True
                return self._change(row, "phone", self._columns["phone"][others[0]], "key(area_code, phone)")
        raise _too_small()

    def wrong_area_code(self) -> PlantedError:
        """An area code of another state."""
        for row, model in self._tries():
            is_right = not self._touched[model]
            if is_right and self._differ(row, model, "state") and self._shared(self._like(model, "area_code")):
                return self._change(row, "area_code", self._columns["area_code"][model], "area_code -> state")
        raise _too_small()

    def wrong_rate(self) -> PlantedError:
        """A rate above every bracket: others in the state earn as much, and others earn more."""
        for row, _ in self._tries():
            earns_more = self._like(row, "state") & (self._columns["salary"] > self._columns["salary"][row])
            if self._shared(earns_more) and self._outvoted(self._like(row, "state", "salary", without=row)):
                now = round(float(self._columns["rate"][row]) + 25.0, 2)
                return self._change(row, "rate", now, "state, salary -> rate", "{state}: salary asc ~ rate asc")
        raise _too_small()

    def wrong_child_exemption(self) -> PlantedError:
        """One more than it should be."""
        for row, _ in self._tries():
            if self._shared(self._like(row, "state", "has_child", without=row)):
                now = int(self._columns["child_exemption"][row]) + 1
                return self._change(row, "child_exemption", now, "state, has_child -> child_exemption")
        raise _too_small()

    def _tries(self) -> Iterator[tuple[int, int]]:
        """Yield rows that no error has touched, each with any other row as a model."""
        rows = len(self._touched)
        for _ in range(_MOST_TRIES if rows else 0):
            row, model = (int(number) for number in self._random.integers(rows, size=2))
            if row != model and not self._touched[row]:
                yield row, model

    def _differ(self, row: int, other: int, column: str) -> bool:
        return bool(self._columns[column][row] != self._columns[column][other])

    def _like(self, row: int, *names: str, without: int | None = None) -> np.ndarray:
        """Mark the rows that agree with a row on some columns."""
        alike = np.ones(len(self._touched), np.bool_)
        for name in names:
            alike &= self._columns[name] == self._columns[name][row]
        if without is not None:
            alike[without] = False
        return alike

    def _is_untouched(self, rows: np.ndarray) -> bool:
        return not (rows & self._touched).any()

    def _outvoted(self, rows: np.ndarray) -> bool:
        """Whether these rows outvote the one error that will be among them."""
        return int(rows.sum()) >= _FEWEST_VOTERS and self._is_untouched(rows)

    def _shared(self, rows: np.ndarray) -> bool:
        """Whether these rows outvote as many errors as there can be among them."""
        return int((rows & ~self._touched).sum()) >= self._voters

    def _change(self, row: int, column: str, now: object, *breaks: str) -> PlantedError:
        was = self._columns[column][row]
        self._columns[column][row] = now
        self._touched[row] = True
        return PlantedError(row, column, str(was), str(now), breaks)


def _too_small() -> UsageError:
    return UsageError("the table is too small to plant that many errors", "Ask for more rows or fewer errors.")
