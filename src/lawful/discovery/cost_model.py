"""When to compare all pairs, and when only some.

Comparing all pairs costs a fixed time per pair, whatever the table holds. Sampling and checking costs more with
every candidate, and candidates multiply with the columns: so the time that full evidence may take is allowed to
double with every second column. The constants were measured on two cores of an ordinary server; only the order of
magnitude matters, since both ways give the same answer.
"""

from __future__ import annotations

from lawful.common.machine import cores

_SECONDS_A_PAIR = 0.5e-9
_SECONDS_A_PAIR_AND_COLUMN = 0.06e-9
_SECONDS_A_NEW_SET = 60e-9
"""For each pair that is the first of random pairs with its agree set: such sets are looked up far from any cache."""
_ALLOWED_SECONDS = 0.03
_ALLOWED_AT_COLUMNS = 14
_COLUMNS_TO_DOUBLE = 2.0
_MOST_SECONDS = 3600.0


def full_evidence_seconds(rows: int, columns: int, threads: int | None = None, new_sets: float = 0.0) -> float:
    """How long comparing all pairs will take, roughly; `new_sets` is the share of random pairs with a new agree set."""
    pairs = rows * (rows - 1) / 2
    a_pair = _SECONDS_A_PAIR + _SECONDS_A_PAIR_AND_COLUMN * columns + _SECONDS_A_NEW_SET * new_sets
    return pairs * a_pair / (threads or cores())


def full_evidence_is_cheaper(rows: int, columns: int, threads: int | None = None, *, new_sets: float = 0.0) -> bool:
    """Whether to compare all pairs of this table."""
    allowed: float = _ALLOWED_SECONDS * 2.0 ** min(40.0, (columns - _ALLOWED_AT_COLUMNS) / _COLUMNS_TO_DOUBLE)
    return full_evidence_seconds(rows, columns, threads, new_sets) <= min(allowed, _MOST_SECONDS)
