"""What almost-laws think of rows that no node holds: as where one process has all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from shuffled_tables import write_parts

from lawful.checks.voting.asking import VotingLaw
from lawful.checks.voting.opinions import Opinion
from lawful.common.errors import StoppedError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD, CanonicalOD, Key
from lawful.engines.local import LocalEngine
from lawful.engines.shuffle import classes, opinions
from lawful.engines.shuffle.engine import ShuffleEngine
from lawful.engines.shuffle.votes import _order_runner
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
from lawful.tables.shuffled.encode import encode_by_shuffles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.usefixtures("cache_of_module"),
    pytest.mark.cluster,
    pytest.mark.timeout(900),
]  # dozens of jobs, on a machine that may be busy

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


Engines = tuple[LocalEngine, ShuffleEngine, EncodedTable]


def opened(spark: SparkSession, seed: int, policy: NullPolicy, folder: Path) -> Engines:
    """Both engines, and the table in this process."""
    source = write_parts(random_table(seed), folder / "table", 3)
    local, engine, whole = LocalEngine(), ShuffleEngine(spark, 50), encode_in_process(source, ReadOptions())
    local.open(whole, policy)
    engine.open(encode_by_shuffles(spark, str(source), ReadOptions()), policy)
    return local, engine, whole


def assert_alike(found: list[Opinion], expected: list[Opinion], engines: Engines) -> None:
    """Opinions are alike, and what they suggest has the same texts."""
    _, engine, whole = engines
    facts = engine.value_facts
    suggesting = [(law, *both) for law, *both in zip(LAWS, found, expected, strict=True) if isinstance(law, FD)]
    facts.know((law.rhs, rank) for law, one, _ in suggesting for rank in one.suggested.tolist())
    for law, one, other in suggesting:
        values = whole.values(law.rhs).cast("string").to_pylist()
        texts = [values[rank - 1] if rank else None for rank in other.suggested.tolist()]
        assert [facts.text(law.rhs, rank) for rank in one.suggested.tolist()] == texts, law
    for law, one, other in zip(LAWS, found, expected, strict=True):
        assert (one.tested, one.failed) == (other.tested, other.failed), law
        for name in ("rows", "others", "rivals"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist(), (law, name)
        assert np.allclose(one.weights, other.weights, rtol=1e-9, atol=1e-9), law


@pytest.mark.parametrize(
    ("seed", "policy"),
    [
        (1, NullPolicy.EQUAL),
        (2, NullPolicy.IGNORE),
        *(pytest.param(seed, policy, marks=pytest.mark.slow) for seed in range(3, 8) for policy in NullPolicy),
    ],
)
def test_opinions_are_those_of_one_place(seed: int, policy: NullPolicy, spark: SparkSession, tmp_path: Path) -> None:
    local, engine, _ = engines = opened(spark, seed, policy, tmp_path)
    first = local.opinions(LAWS, never)
    assert_alike(engine.opinions(LAWS, never), first, engines)
    assert sum(opinion.rows.size for opinion in first) > 10
    some = np.unique(np.concatenate([*(opinion.rows for opinion in first), np.arange(0, 400, 7)])).astype(np.int64)
    assert_alike(engine.opinions(LAWS, never, some), local.opinions(LAWS, never, some), engines)


def test_laws_that_cannot_be_asked_say_so_and_others_are_heard(spark: SparkSession, tmp_path: Path) -> None:
    local, engine, _ = opened(spark, 1, NullPolicy.EQUAL, tmp_path)
    orders = [law for law in LAWS if isinstance(law, CanonicalOD)]
    expected = local.opinions(orders, never)
    with patch.object(opinions, "LARGEST_CLASS", 100):
        found = engine.opinions(orders, never)
    assert [opinion.unheard is None for opinion in found] == [False, True, True]
    assert found[0].rows.size == 0
    assert "a task takes no more" in str(found[0].unheard)
    for one, other in zip(found[1:], expected[1:], strict=True):
        assert one.rows.tolist() == other.rows.tolist()


def test_a_task_tells_that_a_class_of_an_order_is_too_large() -> None:
    rows = pa.record_batch({"k0": [0] * 30, "k1": [7] * 30, "row": range(30), "a": range(30), "b": range(30)})
    run = _order_runner([False], 2, NullPolicy.EQUAL, 5)
    (votes,) = run(iter([rows]))
    assert votes.num_rows == 30
    with patch.object(classes, "LARGEST_CLASS", 20):
        (line,) = run(iter([rows]))
        assert line.column("error").to_pylist() == [classes.too_large()]
        assert line.column("t").to_pylist() == [None]


def test_a_limit_ends_the_jobs(spark: SparkSession, tmp_path: Path) -> None:
    _, engine, _ = opened(spark, 1, NullPolicy.EQUAL, tmp_path)
    with pytest.raises(StoppedError):
        engine.opinions(LAWS, lambda: True)


def test_a_table_without_rows_has_nothing_wrong(spark: SparkSession, tmp_path: Path) -> None:
    source = write_parts(random_table(1).slice(0, 0), tmp_path / "table", 1)
    engine = ShuffleEngine(spark)
    engine.open(encode_by_shuffles(spark, str(source), ReadOptions()), NullPolicy.EQUAL)
    assert all(not opinion.rows.size and not opinion.tested for opinion in engine.opinions(LAWS, never))
