"""What almost-laws think of rows that no node holds: as where one process has all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from shuffled_tables import write_parts

from lawful.checks.voting.asking import VotingLaw
from lawful.checks.voting.opinions import Opinion
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle.engine import ShuffleEngine
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.shuffled.encode import encode_by_shuffles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.usefixtures("cache_of_module"), pytest.mark.timeout(600)]

LAWS: list[VotingLaw] = [
    FD((), 0), FD((0,), 1), FD((1,), 0), FD((0,), 2), FD((0, 3), 1), FD((3,), 4), FD((2,), 5), FD((5,), 2),
    Key((5,)), Key((0, 3)), Key((1, 2, 3)),
    CanonicalOD((), 5, 4, "asc"), CanonicalOD((3,), 5, 4, "asc"), CanonicalOD((0, 3), 1, 4, "desc"),
]  # fmt: skip


def never() -> bool:
    return False


def random_table(seed: int, rows: int = 400) -> pa.Table:
    """Laws with slips, exceptions that share a value, nulls, and orders with rows out of place."""
    random = np.random.default_rng(seed)
    thing = random.integers(0, 25, rows)
    named, kind = thing * 3, thing % 4
    slips = random.random(rows) < 0.03
    named = np.where(slips, random.integers(0, 80, rows), named)
    place = random.integers(0, 12, rows)
    kind = np.where((place == 5) & (random.random(rows) < 0.8), 9, kind)
    number = np.arange(rows) * 10**8
    rising = np.where(random.random(rows) < 0.02, random.integers(0, 10**6, rows), np.arange(rows) * 50)

    def nulled(values: object, share: float) -> pa.Array:
        return pa.array(values, mask=random.random(rows) < share)

    return pa.table(
        {
            "thing": nulled(thing, 0.02),
            "name": nulled([f"name {value}" for value in named], 0.03),
            "kind": nulled(kind, 0.02),
            "place": pa.array(place),
            "rising": nulled(rising, 0.02),
            "number": nulled(np.where(random.random(rows) < 0.02, 0, number), 0.01),
        }
    )


def told(
    opinion: Opinion, law: VotingLaw, table: EncodedTable, engine: ShuffleEngine | None
) -> list[tuple[object, ...]]:
    """An opinion with what it suggests as text."""
    found = []
    for row, others, rivals, suggested in zip(
        *(each.tolist() for each in (opinion.rows, opinion.others, opinion.rivals, opinion.suggested)), strict=True
    ):
        text: str | None = None
        if suggested and isinstance(law, FD):
            text = (
                str(table.values(law.rhs)[suggested - 1])
                if engine is None
                else engine.value_facts.text(law.rhs, suggested)
            )
        found.append((row, others, rivals, text))
    return found


def assert_alike(
    found: list[Opinion], expected: list[Opinion], laws: list[VotingLaw], engines: tuple[ShuffleEngine, EncodedTable]
) -> None:
    for law, one, other in zip(laws, found, expected, strict=True):
        assert (one.tested, one.failed) == (other.tested, other.failed), law
        assert told(one, law, engines[1], engines[0]) == told(other, law, engines[1], None), law
        assert np.allclose(one.weights, other.weights, rtol=1e-9, atol=1e-9), law


@pytest.mark.parametrize(
    ("seed", "policy"),
    [
        (1, NullPolicy.EQUAL),
        pytest.param(2, NullPolicy.IGNORE),
        *(pytest.param(seed, policy, marks=pytest.mark.slow) for seed in range(3, 8) for policy in NullPolicy),
    ],
)
def test_opinions_are_those_of_one_place(seed: int, policy: NullPolicy, spark: SparkSession, tmp_path: Path) -> None:
    source = write_parts(random_table(seed), tmp_path / "table", 3)
    whole, shuffled = encode_in_process(source, ReadOptions()), encode_by_shuffles(spark, str(source), ReadOptions())
    local, engine = LocalEngine(), ShuffleEngine(spark, 50)
    local.open(whole, policy)
    engine.open(shuffled, policy)
    first = local.opinions(LAWS, never)
    assert_alike(engine.opinions(LAWS, never), first, LAWS, (engine, whole))
    assert sum(opinion.rows.size for opinion in first) > 10
    some = np.unique(np.concatenate([*(opinion.rows for opinion in first), np.arange(0, 400, 7)]))
    expected = local.opinions(LAWS, never, some.astype(np.int32))
    assert_alike(engine.opinions(LAWS, never, some), expected, LAWS, (engine, whole))
    local.close()
    engine.close()
