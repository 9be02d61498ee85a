"""A table that no process holds, for everybody who only asks what is known of it or shows some of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lawful.common.errors import UsageError
from lawful.tables.encoded_table import EncodedTable

if TYPE_CHECKING:
    from lawful.tables.shuffled.data import ShuffledData

SAMPLED_CELLS = 32_000_000
"""The most cells of a sample: with 64 bits each, and what is made of them, about half a gigabyte."""
SAMPLED_ROWS = 1_000_000
MOST_SUSPICIOUS = 1_000_000
"""The most rows with wrong cells that come to this process, with all of their columns."""


@dataclass(frozen=True)
class ShuffledTable(EncodedTable):
    """A table whose ranks are a dataset of Spark's. Row ids have 64 bits.

    Attributes
    ----------
    digest
        Tells the ranks of this table from those of another.
    """

    data: ShuffledData | None = None
    digest: str = ""

    @property
    def dataset(self) -> ShuffledData:
        """The dataset of the table."""
        assert self.data is not None
        return self.data

    @property
    def nbytes(self) -> int:
        """The size of what this process will hold: a sample."""
        return 8 * self.width * sample_rows(self.rows, self.width)

    def column(self, position: int) -> npt.NDArray[np.int32]:
        """Refuse: nobody holds a column."""
        raise self.needs_all_rows("this")

    def value(self, row: int, position: int) -> str | None:
        """The value of a cell as text, None for null."""
        return self.dataset.text(row, position)

    def texts(self, rows: Sequence[int] | npt.NDArray[np.int64], position: int) -> pa.Array:
        """The values of a column in some rows as texts, null where they are null."""
        return pa.array([self.dataset.text(int(row), position) for row in rows], pa.string())

    def values(self, position: int) -> pa.Array:
        """Refuse: nobody holds the values of a column."""
        raise self.needs_all_rows("this")

    def needs_all_rows(self, what: str) -> UsageError:
        """The error for what cannot be done by shuffles."""
        return UsageError(
            f"{what} is not done by shuffles yet: it needs all rows of {self.name} on every node",
            "Use --placement replicate, with --limit to take the first rows where all are too many.",
        )


def sample_rows(rows: int, width: int) -> int:
    """How many rows of a table a sample has at most."""
    return min(rows, SAMPLED_ROWS, SAMPLED_CELLS // max(1, width))


def is_shuffled(table: Any) -> bool:
    """Whether a table's ranks are spread over a cluster."""
    return isinstance(table, ShuffledTable)
