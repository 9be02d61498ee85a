"""Exact multisets of agree sets, and how parts of them are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lawful.common.arrays import Int32s, Int64s, Words
from lawful.evidence.signs import all_columns


@dataclass(frozen=True, eq=False, slots=True)
class AgreeSets:
    """Distinct agree sets over unordered pairs of rows, in the order of their words read as one number.

    Attributes
    ----------
    columns
        The columns that were compared; bit c of every set stands for `columns[c]`.
    agree
        Where the rows agree, `uint64[sets, words]`. The empty set is there if it occurs.
    known_differ
        Under `NullPolicy.IGNORE` where they are known to differ; sets that agree alike and differ otherwise
        are then two. Under `EQUAL` None: rows differ wherever they do not agree.
    counts
        The number of pairs with each set, `int64[sets]`; None if only the sets were asked for.
    witnesses
        A pair of rows for each set, `int32[sets, 2]`, the smaller row first.
    """

    columns: tuple[int, ...]
    agree: Words
    known_differ: Words | None
    counts: Int64s | None
    witnesses: Int32s

    def __len__(self) -> int:
        return len(self.agree)

    @property
    def differ(self) -> Words:
        """Where the rows are known to differ, under either policy."""
        return ~self.agree & all_columns(len(self.columns)) if self.known_differ is None else self.known_differ


def merge(parts: Sequence[AgreeSets]) -> AgreeSets:
    """Put agree sets of tiles together.

    Counts add up. The witness is that of the first part which has the set, so parts in the order of their tiles
    give exactly what one walk over the whole table gives.
    """
    first = _checked(parts)
    planes = [np.concatenate([part.agree for part in parts])]
    if first.known_differ is not None:
        planes.append(np.concatenate([part.differ for part in parts]))
    counts = (
        None if first.counts is None else np.concatenate([part.counts for part in parts if part.counts is not None])
    )
    grouped, counts, witnesses = grouped_vectors(planes, counts, np.concatenate([part.witnesses for part in parts]))
    return AgreeSets(first.columns, grouped[0], grouped[1] if len(grouped) > 1 else None, counts, witnesses)


def grouped_vectors(
    planes: Sequence[Words], counts: Int64s | None, witnesses: Int32s
) -> tuple[list[Words], Int64s | None, Int32s]:
    """Sort vectors and join equal ones: counts add up, the first witness stays."""
    if len(witnesses) == 0:
        return list(planes), counts, witnesses
    # The last key of lexsort is the most significant: the last word of the first plane.
    keys = [plane[:, word] for plane in reversed(planes) for word in range(plane.shape[1])]
    order = np.lexsort(keys) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
    is_first = np.zeros(len(order), np.bool_)
    is_first[0] = True
    for key in keys:
        ordered = key[order]
        is_first[1:] |= ordered[1:] != ordered[:-1]
    chosen = order[is_first]
    if counts is not None:
        counts = np.add.reduceat(counts[order], np.flatnonzero(is_first))
    return [np.ascontiguousarray(plane[chosen]) for plane in planes], counts, witnesses[chosen]


def _checked(parts: Sequence[AgreeSets]) -> AgreeSets:
    if not parts:
        raise ValueError("there is nothing to put together")
    first = parts[0]
    if any(part.columns != first.columns or (part.counts is None) != (first.counts is None) for part in parts):
        raise ValueError("parts of different columns, or with counts and without, do not belong together")
    return first
