"""Wide tables with entity structure, generated: what exports of joined tables, surveys and statistics look like.

A row joins a few entities, such as a person, a place and a year. All columns of an entity follow from its number:
attributes, attributes of attributes, and names that stand for each other. Most have few values, some are unknown. So a
wide table is not much more random than a narrow one: it says the same things in more ways. Beside its entities a row
has some remarks of its own, nearly always the same.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

_REMARKS = 0.1
"""The share of columns that are remarks on a row."""
_SHARE_WITH_NULLS = 0.3
_MOST_NULLS = 0.5
_RARE = 0.02
"""How often a remark is another one than usual, at most."""

_DRAWN_TIMES = 2
"""So many times the rows are drawn, since no two of those that stay are equal."""

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class WideTable:
    """A generated table: how many rows and columns it has, and what makes it.

    `entities` says how many of them a row joins; all keys draw on most of them. No two rows are equal.
    """

    rows: int
    columns: int
    entities: int = 4
    seed: int = 1

    @property
    def name(self) -> str:
        """What the table is called, the same for the same table."""
        return f"wide_{self.rows}x{self.columns}_{self.entities}_{self.seed}"

    def codes(self) -> Codes:
        """All values as numbers, `int64[columns, rows]`; -1 is null."""
        chance = np.random.default_rng([self.seed, self.rows, self.columns, self.entities])
        drawn = _DRAWN_TIMES * self.rows
        remarks = int(self.columns * _REMARKS)
        columns = [(chance.random(drawn) < chance.uniform(0, _RARE)).astype(np.int64) for _ in range(remarks)]
        for entity in range(self.entities):
            width = (self.columns - len(columns)) // (self.entities - entity)
            columns += self._entity(chance, width, drawn)
        codes = np.stack(columns)[chance.permutation(self.columns)]
        _, first = np.unique(codes, axis=1, return_index=True)
        return np.ascontiguousarray(codes[:, np.sort(first)[: self.rows]])

    def write(self, folder: Path) -> Path:
        """The table as a CSV file with a header; an empty cell is null."""
        path = folder / f"{self.name}.csv"
        if not path.exists():
            texts = [["" if code < 0 else str(code) for code in column] for column in self.codes().tolist()]
            with path.open("w", encoding="utf-8", newline="") as out:
                writer = csv.writer(out)
                writer.writerow([f"c{column}" for column in range(self.columns)])
                writer.writerows(zip(*texts, strict=True))
        return path

    def _entity(self, chance: np.random.Generator, width: int, drawn: int) -> list[Codes]:
        """The number of an entity for each row, and attributes that it determines, straight or over others."""
        numbers = int(self.rows ** chance.uniform(0.4, 0.8))
        number = (numbers * chance.random(drawn) ** chance.uniform(1.0, 2.0)).astype(np.int64)
        attributes = [np.arange(numbers)]
        for _ in range(width - 1):
            source = attributes[int(chance.integers(len(attributes)))]
            values = int(source.max()) + 1
            fewer = max(2, int(values ** chance.uniform(0.3, 1.0)))
            meaning = (fewer * chance.random(values) ** chance.uniform(1.0, 3.0)).astype(np.int64)
            attributes.append(meaning[source])
        known = attributes[:1] + [self._with_nulls(chance, attribute) for attribute in attributes[1:]]
        return [attribute[number] for attribute in known]

    @staticmethod
    def _with_nulls(chance: np.random.Generator, attribute: Codes) -> Codes:
        """The attribute, unknown of some entities if chance has it so."""
        if chance.random() < _SHARE_WITH_NULLS:
            unknown = chance.random(attribute.size) < chance.uniform(0.0, _MOST_NULLS)
            return np.where(unknown, -1, attribute)
        return attribute
