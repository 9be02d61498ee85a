"""Orders for pinned laws: twenty laws of all kinds that a shop would pin, and the same as SQL."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_SEED = 5
_ZIPS, _CITIES, _STATES, _PRODUCTS = 20_000, 2_000, 50, 500
_SALARIES, _BRACKET, _DAY = 200_000, 20_000, 8_640
_WRONG = 100_000
"""One row in so many has a wrong city, one a wrong tax: a law that never breaks would show little."""

LAWS = (
    "key(id)",
    "key(placed)",
    "zip -> city",
    "zip -> state",
    "city -> state",
    "product -> price",
    "product, quantity -> total",
    "zip, product -> state",
    "{state}: salary asc ~ tax asc",
    "{state}: salary asc ~ rate asc",
    "{product}: quantity asc ~ total asc",
    "{}: id asc ~ placed asc",
    "[id asc] -> [placed asc]",
    "[placed asc] -> [day asc]",
    "{quantity<} -> {discount<=}",
    "{state=, salary<} -> {rate<=}",
    "{product=, quantity<=} -> {total<=}",
    "not(t.state = s.state and t.salary < s.salary and t.tax > s.tax)",
    "not(t.product = s.product and t.price != s.price)",
    "not(t.quantity < 1)",
)


def _falls(group: str, by: str, column: str, *, ties: bool = False) -> str:
    """How many rows have a greater value before them, within a group in the order of a column."""
    part = f"PARTITION BY {group} " if group else ""
    end = "CURRENT ROW" if ties else "1 PRECEDING"
    frame = f"RANGE BETWEEN UNBOUNDED PRECEDING AND {end}"
    return (
        f"SELECT count(*) FROM (SELECT {column} AS own, max({column}) OVER ({part}ORDER BY {by} {frame}) AS most "
        "FROM orders) WHERE most > own"
    )


def _differs(group: str, column: str) -> str:
    return f"SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY {group} HAVING count(DISTINCT {column}) > 1)"


def _repeats(group: str) -> str:
    return f"SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY {group} HAVING count(*) > 1)"


QUERIES = (
    _repeats("id"),
    _repeats("placed"),
    _differs("zip", "city"),
    _differs("zip", "state"),
    _differs("city", "state"),
    _differs("product", "price"),
    _differs("product, quantity", "total"),
    _differs("zip, product", "state"),
    _falls("state", "salary", "tax"),
    _falls("state", "salary", "rate"),
    _falls("product", "quantity", "total"),
    _falls("", "id", "placed"),
    _falls("", "id", "placed", ties=True),
    _falls("", "placed", "day", ties=True),
    _falls("", "quantity", "discount"),
    _falls("state", "salary", "rate"),
    _falls("product", "quantity", "total", ties=True),
    _falls("state", "salary", "tax"),
    _differs("product", "price"),
    "SELECT count(*) FROM orders WHERE quantity < 1",
)
"""How many groups or rows break each law: less than what lawful counts, and the least that SQL has to look at."""


def orders(rows: int, first: int = 0) -> pa.Table:
    """Orders with the numbers from `first` on; the same number is always the same order."""
    number = np.arange(first, first + rows, dtype=np.int64)
    random = np.random.default_rng([_SEED, first])
    zips = random.integers(0, _ZIPS, rows)
    cities = zips % _CITIES
    states = cities % _STATES
    products = random.integers(0, _PRODUCTS, rows)
    prices = 100 + products * 7 % 900
    quantities = random.integers(1, 10, rows)
    salaries = random.integers(0, _SALARIES, rows)
    taxes = salaries * (1 + states % 5) // 10
    taxes = np.where(number % _WRONG == _WRONG - 1, taxes // 2, taxes)
    wrong_cities = np.where(number % _WRONG == _WRONG // 2, (cities + _STATES) % _CITIES, cities)
    placed = number * 10 + number % 7
    return pa.table(
        {
            "id": number,
            "placed": placed,
            "day": placed // _DAY,
            "zip": zips,
            "city": wrong_cities,
            "state": states,
            "product": products,
            "price": prices,
            "quantity": quantities,
            "total": prices * quantities,
            "discount": (quantities - 1) // 3,
            "salary": salaries,
            "tax": taxes,
            "rate": states * 10 + salaries // _BRACKET,
        }
    )
