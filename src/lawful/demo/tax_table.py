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

import numpy as np
import pyarrow as pa

from lawful.errors import UsageError

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
class TaxTable:
    """The table and the errors that were planted in it."""

    table: pa.Table
    errors: tuple[PlantedError, ...]


def make_tax_table(rows: int, errors: int = 0, seed: int = 7) -> TaxTable:
    """Generate the table.

    Parameters
    ----------
    rows
        How many people.
    errors
        How many cells to change; each needs a hundred rows or more, so that it can be outvoted.
    seed
        Where the random numbers start.
    """
    if rows < 0 or errors < 0:
        raise UsageError("the numbers of rows and errors must not be negative")
    random = np.random.default_rng(seed)
    columns = _people(rows, random)
    planted = _plant(columns, errors, random)
    return TaxTable(pa.table(columns), planted)


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


def _plant(columns: Columns, errors: int, random: np.random.Generator) -> tuple[PlantedError, ...]:
    """Change one cell in each of some rows, taking the kinds of error in turn."""
    kinds = (_wrong_zip, _wrong_city, _repeated_phone, _wrong_area_code, _wrong_rate, _wrong_child_exemption)
    touched = np.zeros(len(columns["zip"]), np.bool_)
    return tuple(kinds[number % len(kinds)](columns, touched, random) for number in range(errors))


def _wrong_zip(columns: Columns, touched: np.ndarray, random: np.random.Generator) -> PlantedError:
    """The zip of a city with another name in another state, where enough people live to outvote the error."""
    for row in _tries(columns, random):
        model = int(random.integers(len(touched)))
        differs = all(columns[name][model] != columns[name][row] for name in ("state", "city"))
        if differs and _outvoted(columns, touched, row, ("zip",), model):
            return _change(columns, row, "zip", columns["zip"][model], ("zip -> city", "zip -> state"))
    raise _too_small()


def _wrong_city(columns: Columns, touched: np.ndarray, random: np.random.Generator) -> PlantedError:
    for row in _tries(columns, random):
        if _outvoted(columns, touched, row, ("zip",)):
            others = columns["city"][columns["city"] != columns["city"][row]]
            return _change(columns, row, "city", others[int(random.integers(len(others)))], ("zip -> city",))
    raise _too_small()


def _repeated_phone(columns: Columns, touched: np.ndarray, random: np.random.Generator) -> PlantedError:
    for row in _tries(columns, random):
        if _outvoted(columns, touched, row, ("area_code", "state")):
            alike = np.flatnonzero(columns["area_code"] == columns["area_code"][row])
            other = int(alike[alike != row][0])
            touched[other] = True
            return _change(columns, row, "phone", columns["phone"][other], ("key(area_code, phone)",))
    raise _too_small()


def _wrong_area_code(columns: Columns, touched: np.ndarray, random: np.random.Generator) -> PlantedError:
    for row in _tries(columns, random):
        model = int(random.integers(len(touched)))
        if columns["state"][model] != columns["state"][row] and _outvoted(
            columns, touched, row, ("area_code",), model, alone=False
        ):
            return _change(columns, row, "area_code", columns["area_code"][model], ("area_code -> state",))
    raise _too_small()


def _wrong_rate(columns: Columns, touched: np.ndarray, random: np.random.Generator) -> PlantedError:
    """A rate above every bracket: someone in the state earns as much, and someone earns more."""
    breaks = ("state, salary -> rate", "{state}: salary asc ~ rate asc")
    for row in _tries(columns, random):
        in_state = columns["state"] == columns["state"][row]
        earns_more = bool((columns["salary"][in_state] > columns["salary"][row]).any())
        if earns_more and _outvoted(columns, touched, row, ("state", "salary")):
            return _change(columns, row, "rate", round(float(columns["rate"][row]) + 25.0, 2), breaks)
    raise _too_small()


def _wrong_child_exemption(columns: Columns, touched: np.ndarray, random: np.random.Generator) -> PlantedError:
    for row in _tries(columns, random):
        if _outvoted(columns, touched, row, ("state", "has_child"), alone=False):
            wrong = int(columns["child_exemption"][row]) + 1
            return _change(columns, row, "child_exemption", wrong, ("state, has_child -> child_exemption",))
    raise _too_small()


_MOST_TRIES = 2_000


def _tries(columns: Columns, random: np.random.Generator) -> Iterator[int]:
    for _ in range(_MOST_TRIES):
        yield int(random.integers(len(columns["zip"])))


def _outvoted(
    columns: Columns,
    touched: np.ndarray,
    row: int,
    by: tuple[str, ...],
    model: int | None = None,
    *,
    alone: bool = True,
) -> bool:
    """Whether at least three rows agree with `model` (or with the row) on `by`, so that an error is outvoted.

    With `alone`, none of those rows may have been touched before. A row that passes counts as touched.
    """
    like = row if model is None else model
    alike = np.ones(len(touched), np.bool_)
    for name in by:
        alike &= columns[name] == columns[name][like]
    alike[row] = False
    if touched[row] or int(alike.sum()) < 3 or (alone and bool((alike & touched).any())):
        return False
    touched[row] = True
    return True


def _change(columns: Columns, row: int, column: str, now: object, breaks: tuple[str, ...]) -> PlantedError:
    was = columns[column][row]
    columns[column][row] = now
    return PlantedError(row, column, str(was), str(now), breaks)


def _too_small() -> UsageError:
    return UsageError("the table is too small to plant that many errors", "Ask for more rows or fewer errors.")
