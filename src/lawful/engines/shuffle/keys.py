"""Sets of ranks as a few 64-bit words, without loss: what Spark groups and sorts by.

The ranks of several columns become the digits of one number, whose base is the number of ranks of each column. So no
two left sides share a key, as two hashes might: a table of a billion rows would meet that.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lawful.tables.shuffled.data import Coding, ShuffledData
from lawful.tables.spark_facts import parallelism

_MOST = 2**62
_MOST_LINES = 12
"""Lines that a row gives in one job: each is some generated Java code, and Java compiles no methods that are long."""
_LINES_A_TASK = 200_000_000
"""Lines of a job for each task that runs at once: Spark keeps all of them on the disks of the executors for a while."""


def lines_a_row(data: ShuffledData) -> int:
    """How many lines a row may give in one job."""
    return max(1, min(_MOST_LINES, _LINES_A_TASK * parallelism(data.spark) // max(1, data.rows)))


@dataclass(frozen=True)
class PackedKey:
    """Some columns of a table as words, each of several columns with the bases of their ranks."""

    words: tuple[tuple[tuple[int, int], ...], ...]

    @staticmethod
    def of(columns: Sequence[int], codings: Sequence[Coding]) -> PackedKey:
        """Pack as many columns into each word as it has room for."""
        words: list[list[tuple[int, int]]] = []
        room = 0
        for column in columns:
            base = codings[column].highest + 1
            if base > room:
                words.append([])
                room = _MOST
            words[-1].append((column, base))
            room //= base
        return PackedKey(tuple(map(tuple, words)))

    def texts(self, words: int) -> list[str]:
        """The words as expressions of SQL, with zeros up to so many."""
        return [_text(word) for word in self.words] + ["0L"] * (words - len(self.words))

    def falling_texts(self, falling: Collection[int]) -> list[str]:
        """The words where some columns count from their highest rank down: so rows sort as a list of columns does."""
        return [_text(word, falling) for word in self.words]

    def ranks(self, words: Sequence[int]) -> dict[int, int]:
        """The rank of each column, read from the words."""
        found: dict[int, int] = {}
        for word, number in zip(self.words, words, strict=False):
            rest = int(number)
            for column, base in reversed(word):
                rest, found[column] = divmod(rest, base)
        return found


def _text(word: Sequence[tuple[int, int]], falling: Collection[int] = ()) -> str:
    text = ""
    for column, base in word:
        rank = f"cast(c{column} as bigint)"
        if column in falling:
            rank = f"({base - 1}L - {rank})"
        text = rank if not text else f"({text}) * {base}L + {rank}"
    return text


def key_names(words: int) -> list[str]:
    """The names of the words of a key."""
    return [f"k{number}" for number in range(words)]


def exploded(entries: Sequence[tuple[str, dict[str, str]]]) -> str:
    """An expression that gives a line for each entry, a condition and named values, whose condition a row fulfils."""
    structs = []
    for condition, values in entries:
        members = ", ".join(f"'{name}', {text}" for name, text in values.items())
        struct = f"named_struct({members})"
        structs.append(f"if({condition}, {struct}, null)" if condition else struct)
    return f"inline(array({', '.join(structs)}))"


def without_nulls(columns: Sequence[int]) -> str:
    """A condition that no column of a row is null."""
    return " and ".join(f"c{column} <> 0" for column in dict.fromkeys(columns))
