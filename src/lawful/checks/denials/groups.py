"""Rows in groups, some of them as t and some as s: what the equalities of a denial constraint leave of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lawful.checks.partitions import Partition
from lawful.common.arrays import Flags, Int32s


@dataclass(frozen=True, eq=False, slots=True)
class Groups:
    """The rows that may be t and those that may be s, group by group, ascending within a group.

    Group `g` has the t `t_rows[t_offsets[g]:t_offsets[g + 1]]` and the s alike. A pair that satisfies all
    equalities is in one group.
    """

    t_rows: Int32s
    t_offsets: Int32s
    s_rows: Int32s
    s_offsets: Int32s

    def __post_init__(self) -> None:
        # As partitions are, so that kernels are compiled for one type of array.
        for array in (self.t_rows, self.t_offsets, self.s_rows, self.s_offsets):
            array.flags.writeable = False

    @staticmethod
    def of(partition: Partition, t_fits: Flags | None, s_fits: Flags | None) -> Groups:
        """Take the classes of a partition, and of these the rows that fit."""
        t_rows, t_offsets = _kept(partition, t_fits)
        s_rows, s_offsets = (t_rows, t_offsets) if s_fits is t_fits else _kept(partition, s_fits)
        return Groups(t_rows, t_offsets, s_rows, s_offsets)

    def matching(self, equalities: Sequence[tuple[Int32s, Int32s]]) -> Groups:
        """Split every group by more equalities between a column of t and one of s."""
        groups = self
        for left, right in equalities:
            groups = groups._split_by(left, right)
        return groups

    @property
    def pairs(self) -> int:
        """The pairs between t and s of one group, those of a row with itself included."""
        t_sizes, s_sizes = np.diff(self.t_offsets).astype(np.int64), np.diff(self.s_offsets).astype(np.int64)
        return int((t_sizes * s_sizes).sum())

    def without_empty(self) -> Groups:
        """Drop the groups without a pair."""
        full = (np.diff(self.t_offsets) > 0) & (np.diff(self.s_offsets) > 0)
        if full.all():
            return self
        return Groups(
            *_some_groups(self.t_rows, self.t_offsets, full), *_some_groups(self.s_rows, self.s_offsets, full)
        )

    def joined(self, other: Groups) -> Groups:
        """Put the groups of another next to these."""
        return Groups(
            np.concatenate((self.t_rows, other.t_rows)),
            np.concatenate((self.t_offsets, other.t_offsets[1:] + self.t_offsets[-1])),
            np.concatenate((self.s_rows, other.s_rows)),
            np.concatenate((self.s_offsets, other.s_offsets[1:] + self.s_offsets[-1])),
        )

    def batches(self, entries: int) -> Iterator[Groups]:
        """Cut the groups into batches of about so many rows; no group is cut."""
        ends = self.t_offsets[1:].astype(np.int64) + self.s_offsets[1:]
        first = 0
        while first < ends.size:
            start = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, start + entries, side="right")))
            yield Groups(
                self.t_rows[self.t_offsets[first] : self.t_offsets[last]],
                self.t_offsets[first : last + 1] - self.t_offsets[first],
                self.s_rows[self.s_offsets[first] : self.s_offsets[last]],
                self.s_offsets[first : last + 1] - self.s_offsets[first],
            )
            first = last

    def _split_by(self, left: Int32s, right: Int32s) -> Groups:
        t_keys = _keys(self.t_offsets, left[self.t_rows])
        s_keys = _keys(self.s_offsets, right[self.s_rows])
        shared = np.intersect1d(t_keys, s_keys)
        t_rows, t_offsets = _grouped(self.t_rows, t_keys, shared)
        s_rows, s_offsets = _grouped(self.s_rows, s_keys, shared)
        return Groups(t_rows, t_offsets, s_rows, s_offsets)


def _kept(partition: Partition, fits: Flags | None) -> tuple[Int32s, Int32s]:
    if fits is None:
        return partition.rows, partition.offsets
    kept = fits[partition.rows]
    before = np.concatenate((np.zeros(1, np.int32), np.cumsum(kept, dtype=np.int32)))
    return partition.rows[kept], before[partition.offsets]


def _keys(offsets: Int32s, ranks: Int32s) -> NDArray[np.int64]:
    """One number for the group and the rank of each row."""
    groups = np.repeat(np.arange(offsets.size - 1, dtype=np.int64), np.diff(offsets))
    keys: NDArray[np.int64] = (groups << 32) | ranks
    return keys


def _grouped(rows: Int32s, keys: NDArray[np.int64], shared: NDArray[np.int64]) -> tuple[Int32s, Int32s]:
    """The rows whose keys are shared, by key; the sort is stable, so rows of one key keep their order."""
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    starts, ends = np.searchsorted(in_order, shared), np.searchsorted(in_order, shared, side="right")
    offsets = np.concatenate((np.zeros(1, np.int32), np.cumsum(ends - starts, dtype=np.int32)))
    kept = np.isin(in_order, shared, assume_unique=False)
    return rows[order[kept]], offsets


def _some_groups(rows: Int32s, offsets: Int32s, chosen: Flags) -> tuple[Int32s, Int32s]:
    sizes = np.diff(offsets)
    kept = np.concatenate((np.zeros(1, np.int32), np.cumsum(sizes[chosen], dtype=np.int32)))
    return rows[np.repeat(chosen, sizes)], kept
