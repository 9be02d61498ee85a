"""Agree sets and what is swapped under each, as a value: what a pool has seen, without the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lawful.common.arrays import Int32s, Words


@dataclass(frozen=True, eq=False, slots=True)
class SwapSets:
    """Distinct agree sets and what is swapped under each.

    Attributes
    ----------
    columns
        The columns that were compared; bit c of every set stands for `columns[c]`.
    agree, refuted
        As of `Pool`.
    witnesses
        A pair of rows for each agree set, `int32[sets, 2]`.
    """

    columns: tuple[int, ...]
    agree: Words
    refuted: Words
    witnesses: Int32s

    def __len__(self) -> int:
        return len(self.agree)


def merge_swaps(parts: Sequence[SwapSets]) -> SwapSets:
    """Put together what was seen of several parts of the pairs, sorted by agree set; the first witness stays."""
    if not parts or any(part.columns != parts[0].columns for part in parts):
        raise ValueError("only parts over the same columns can be put together")
    agree = np.concatenate([part.agree for part in parts])
    order = np.lexsort(agree.T)
    agree = agree[order]
    is_first = np.ones(len(agree), np.bool_)
    is_first[1:] = (agree[1:] != agree[:-1]).any(axis=1)
    refuted = np.concatenate([part.refuted for part in parts])[order]
    if len(agree):
        refuted = np.bitwise_or.reduceat(refuted, np.flatnonzero(is_first), axis=0)
    witnesses = np.concatenate([part.witnesses for part in parts])[order[is_first]]
    return SwapSets(parts[0].columns, agree[is_first], refuted, witnesses)
