"""Generated tables for list-based order dependencies: orders of a shop, flights, and steps of one clock.

Flights are the table on which lists explode: a constant year, flags that are seldom set, and columns that are null
wherever a flag is. Such columns swap nothing, and order nothing. Steps are the table of very many laws: each column
divides the same time more finely than the one before, so in many orders of them each has something to add.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

_STEPS = (2_176, 1_088, 653, 502, 261, 131, 72, 37, 13, 5, 2, 1)
"""How many rows share a value, one column after the other."""


def orders(rows: int) -> pa.Table:
    """Orders as a shop keeps them: by time, with dates in parts, running numbers, prices and places."""
    chance = np.random.default_rng(5)
    minute = np.cumsum(chance.integers(0, 3, rows))
    day = minute // 1440
    price = np.round(chance.gamma(2.0, 40.0, rows), 2)
    place = chance.integers(0, 400, rows)
    columns = {
        "number": np.arange(rows) + 1000,
        "minute": minute,
        "day": day,
        "month": day // 30 % 12 + 1,
        "year": day // 360 + 1990,
        "countdown": -day,
        "place": place,
        "region": place // 25,
        "price": price,
        "vat": np.round(price * 0.19, 2),
        "customer": chance.integers(0, max(10, rows // 20), rows),
        "currency": np.zeros(rows, np.int64),
    }
    shuffled = chance.permutation(rows)
    return pa.table({name: column[shuffled] for name, column in columns.items()})


def flights(rows: int) -> pa.Table:
    """Flights of one year; those that were cancelled or diverted have no times. The columns that explode come last."""
    chance = np.random.default_rng(1)
    date = np.datetime64("2011-01-01") + np.sort(chance.integers(0, 365, rows))
    first_of_month = date.astype("datetime64[M]")
    carrier = chance.integers(0, 15, rows)
    number = 300 * carrier + chance.integers(1, 300, rows)
    place = chance.integers(0, 116, 4_800)[number]
    distance = chance.integers(79, 3_904, 116)[place]
    fate = chance.choice(3, rows, p=(0.984, 0.013, 0.003))
    cancelled, diverted = fate == 1, fate == 2
    departure = chance.integers(300, 1_440, rows)
    taxi_in, taxi_out = chance.integers(2, 20, rows), chance.integers(5, 60, rows)
    in_the_air = distance // 8 + chance.integers(15, 40, rows)
    elapsed = in_the_air + taxi_in + taxi_out
    late = np.round(chance.gamma(0.6, 20.0, rows)).astype(np.int64) - 6
    reason = np.where(cancelled, chance.choice(list("ABCD"), rows), "")
    landed_elsewhere = diverted & (chance.random(rows) < 0.8)
    return pa.table(
        {
            "year": np.full(rows, 2011),
            "month": first_of_month.astype(np.int64) % 12 + 1,
            "day": (date - first_of_month).astype(np.int64) + 1,
            "weekday": date.astype(np.int64) % 7,
            "carrier": carrier,
            "number": number,
            "tail": 250 * carrier + chance.integers(0, 220, rows),
            "origin": chance.integers(0, 2, 4_800)[number],
            "place": place,
            "distance": distance,
            "departure": _without(departure, cancelled & (chance.random(rows) < 0.975)),
            "departure_delay": _without(late, cancelled),
            "taxi_out": _without(taxi_out, cancelled & (chance.random(rows) < 0.98)),
            "cancelled": cancelled.astype(np.int64),
            "reason": reason,
            "diverted": diverted.astype(np.int64),
            "arrival": _without((departure + elapsed) % 1_440, cancelled | landed_elsewhere),
            "taxi_in": _without(taxi_in, cancelled | landed_elsewhere),
            "arrival_delay": _without(late + chance.integers(-20, 15, rows), fate > 0),
            "in_the_air": _without(in_the_air, fate > 0),
            "elapsed": _without(elapsed, fate > 0),
        }
    )


def steps(rows: int) -> pa.Table:
    """Columns that all rise with the same time, each with more values than the one before."""
    chance = np.random.default_rng(2)
    time = np.sort(chance.integers(0, 10 * rows, rows))
    cuts = (np.sort(chance.choice(time, max(1, rows // share), replace=False)) for share in _STEPS)
    columns = [np.searchsorted(cut, time) for cut in cuts]
    shuffled = chance.permutation(rows)
    return pa.table({f"step {number}": column[shuffled] for number, column in enumerate(columns)})


def _without(values: np.ndarray, nulls: np.ndarray) -> pa.Array:
    return pa.array(values, mask=nulls)


TABLES: dict[str, Callable[[int], pa.Table]] = {"orders": orders, "flights": flights, "steps": steps}
