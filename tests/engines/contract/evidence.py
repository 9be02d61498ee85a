"""What every engine must find by comparing pairs of rows."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest

from engines.contract.tables import DENIALS, EngineFactory
from lawful.checks import Workspace
from lawful.common.arrays import Int64s
from lawful.common.errors import LawfulError, StoppedError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, POD, parse_laws
from lawful.dependencies.predicate_space import PredicateSpace
from lawful.discovery.denials.questions import DenialQuestion, predicate_space
from lawful.engines.class_pairs import compared_classes
from lawful.engines.local import LocalEngine
from lawful.evidence import AgreeSets, ChosenRows, Pool, Tile, all_agree_sets, merge_swaps
from lawful.evidence.denials.distinct_pairs import DistinctPairs
from lawful.evidence.denials.evidence import all_evidence, merge_evidence
from lawful.evidence.signs import SignVectors, words_for
from lawful.search.pods.kept_left_sides import LeftSides, broken_by, pack_left_side
from lawful.search.pods.left_sides import Goal, goals_of, literal_words
from lawful.tables.encoded_table import EncodedTable


def compares_all_pairs(make: EngineFactory, table: EncodedTable) -> None:
    """The same agree sets, counts and witnesses as one thread of this process finds, under both null policies."""
    columns = (1, 3, 5, 6, 8, 11)
    for policy in NullPolicy:
        engine = make()
        engine.open(table, policy)
        for counted in (False, True):
            found = engine.agree_sets(columns, lambda: False, counted=counted)
            expected = all_agree_sets(table, policy, columns, threads=1, counted=counted)
            assert np.array_equal(found.agree, expected.agree)
            assert np.array_equal(found.differ, expected.differ)
            assert np.array_equal(found.witnesses, expected.witnesses)
            if counted:
                assert found.counts is not None
                assert np.array_equal(found.counts, expected.counts)
                assert found.counts.sum() == table.rows * (table.rows - 1) // 2
        with pytest.raises(StoppedError):
            engine.agree_sets(columns, lambda: True)
        engine.close()


def compares_the_pairs_of_some_rows(make: EngineFactory, table: EncodedTable) -> None:
    """Pairs of a batch with all rows, each once: what all pairs have more than the pairs of the other rows."""
    columns, rows = (1, 3, 5, 6, 8, 11), table.rows
    scattered = np.random.default_rng(4).choice(rows, 40, replace=False).astype(np.int64)
    for policy in NullPolicy:
        engine = make()
        engine.open(table, policy)
        whole = counts_of(all_agree_sets(table, policy, columns, threads=1))
        for batch in (range(0), range(7), range(rows - 90, rows), scattered, range(rows)):
            others = np.setdiff1d(np.arange(rows), np.asarray(batch)).astype(np.int32)
            left = counts_of(all_agree_sets(ChosenRows(table, others), policy, columns, threads=1))
            found = engine.agree_sets(columns, lambda: False, counted=True, rows=batch)
            assert counts_of(found) == whole - left
            noted = engine.agree_sets(columns, lambda: False, rows=batch)
            assert noted.counts is None
            assert np.array_equal(noted.agree, found.agree)
            assert np.array_equal(noted.witnesses, found.witnesses)
            assert (found.witnesses[:, 0] < found.witnesses[:, 1]).all()
            assert np.isin(found.witnesses, np.asarray(batch)).any(axis=1).all()
            for agree, pair in zip(found.agree[:, 0].tolist(), found.witnesses.tolist(), strict=True):
                alike = [table.column(column)[pair[0]] == table.column(column)[pair[1]] for column in columns]
                known = [policy is NullPolicy.EQUAL or table.column(column)[pair[0]] > 0 for column in columns]
                assert agree == sum(1 << bit for bit in range(len(columns)) if alike[bit] and known[bit])
        with pytest.raises(StoppedError):
            engine.agree_sets(columns, lambda: True, rows=range(7))
        for wrong in (range(rows, rows + 1), np.array([3, 3])):
            with pytest.raises(LawfulError, match="asked for"):
                engine.agree_sets(columns, lambda: False, rows=wrong)
        engine.close()


def finds_what_refutes_pointwise_laws(make: EngineFactory, table: EncodedTable) -> None:
    """All vectors of signs among the pairs of some rows with all that refute a law, and pairs of these rows only."""
    rows, width = table.rows, table.width
    laws = two_pointwise_laws(width)
    scattered = np.random.default_rng(4).choice(rows, 40, replace=False).astype(np.int64)
    for policy in NullPolicy:
        engine = make()
        engine.open(table, policy)
        for batch in (range(0), range(7), range(rows - 20, rows), scattered):
            chosen = np.asarray(batch, np.int64)
            left, right = (part.ravel() for part in np.meshgrid(chosen, np.arange(rows), indexing="ij"))
            every = signs_of_pairs(table, left[left != right], right[left != right], policy)
            expected = refuting_vectors(every, laws, width)
            found = engine.refuting_pairs(laws, batch, lambda: False)
            assert np.isin(found, chosen).any(axis=1).all()
            told = signs_of_pairs(table, found[:, 0], found[:, 1], policy)
            assert refuting_vectors(told, laws, width) == expected
            assert broken_by(told, laws, width).refutes.all()
            assert len(batch) < 7 or expected
        with pytest.raises(StoppedError):
            engine.refuting_pairs(laws, range(7), lambda: True)
        with pytest.raises(LawfulError, match="asked for"):
            engine.refuting_pairs(laws, np.array([3, 3]), lambda: False)
        engine.close()


def two_pointwise_laws(width: int) -> LeftSides:
    """Two laws that some pairs of the table break."""
    laws = dict.fromkeys(goals_of(width), np.empty((0, literal_words(width)), np.uint64))
    laws[Goal(11, "<=")] = pack_left_side(POD(((5, "<"), (6, ">=")), (11, "<=")), width)
    laws[Goal(6, "=")] = pack_left_side(POD(((5, "="), (8, "<")), (6, "=")), width)
    return laws


def signs_of_pairs(table: EncodedTable, left: Int64s, right: Int64s, policy: NullPolicy) -> SignVectors:
    """How pairs of rows compare, column by column, from the ranks."""
    less, greater = (np.zeros((len(left), words_for(table.width)), np.uint64) for _ in range(2))
    for column in range(table.width):
        one, other = (np.asarray(table.column(column))[rows] for rows in (left, right))
        unknown = (policy is NullPolicy.IGNORE) & ((one == 0) | (other == 0))
        word, bit = divmod(column, 64)
        for plane, is_set in ((less, one < other), (greater, one > other)):
            plane[:, word] |= (is_set | unknown).astype(np.uint64) << np.uint64(bit)
    return SignVectors(less, greater)


def refuting_vectors(signs: SignVectors, laws: LeftSides, width: int) -> set[frozenset[tuple[int, ...]]]:
    """The distinct vectors that refute a law, each with its mirror image."""
    refutes = broken_by(signs, laws, width).refutes
    both = zip(signs.less[refutes].tolist(), signs.greater[refutes].tolist(), strict=True)
    return {frozenset([(*less, *greater), (*greater, *less)]) for less, greater in both}


def counts_of(found: AgreeSets) -> Counter[tuple[int, int]]:
    """How many pairs agree and differ on which columns."""
    assert found.counts is not None
    sets = zip(found.agree[:, 0].tolist(), found.differ[:, 0].tolist(), strict=True)
    return Counter(dict(zip(sets, found.counts.tolist(), strict=True)))


def compares_all_pairs_over_a_space(make: EngineFactory, table: EncodedTable) -> None:
    """The same evidence, counts and witnesses as one thread of this process finds, across columns too."""
    question = DenialQuestion(columns=(5, 6, 10, 11, 12, 13), constants=1, least_mean_ratio=0.01)
    space = predicate_space(table, question)
    assert space.compares_across
    for policy in NullPolicy:
        engine = make()
        engine.open(table, policy)
        for counted in (False, True):
            # Merged, both are in the same order.
            found = merge_evidence([engine.denial_evidence(space, lambda: False, counted=counted)])
            expected = merge_evidence([all_evidence(table, space, policy, threads=1, counted=counted)])
            assert np.array_equal(found.signs.less, expected.signs.less)
            assert np.array_equal(found.signs.greater, expected.signs.greater)
            assert np.array_equal(found.witnesses, expected.witnesses)
            assert (found.counts is None) == (not counted)
            assert not counted or np.array_equal(found.counts, expected.counts)
        with pytest.raises(StoppedError):
            engine.denial_evidence(space, lambda: True)
        engine.close()


def finds_violating_pairs(make: EngineFactory, table: EncodedTable) -> None:
    """One pair at least for each evidence among the pairs that violate constraints, and no other evidence."""
    laws = [law for law in parse_laws("\n".join(DENIALS[:4]), table.names) if isinstance(law, DC)]
    space = PredicateSpace.of(predicate for law in laws for predicate in law.predicates)
    paths = [tuple((predicate,) for predicate in law.predicates) for law in laws]
    for policy in NullPolicy:
        engine, one_thread = make(), LocalEngine(threads=1)
        engine.open(table, policy)
        one_thread.open(table, policy)
        evidence = DistinctPairs(table, space, policy)
        expected = one_thread.violating_pairs(space, paths, lambda: False)
        found = engine.violating_pairs(space, paths, lambda: False)
        assert evidence.add_pairs(*expected.T) == DistinctPairs(table, space, policy).add_pairs(*found.T) > 0
        assert evidence.add_pairs(*found.T) == 0
        with pytest.raises(StoppedError):
            engine.violating_pairs(space, paths, lambda: True)
        engine.close()


def finds_all_swaps(make: EngineFactory, table: EncodedTable) -> None:
    """What one thread of this process finds by comparing all pairs, whatever the threshold below which it does so."""
    columns = (1, 3, 5, 6, 8, 11)
    for policy in NullPolicy:
        pool = Pool(table, policy, columns, swaps=True)
        assert pool.add_tile(Tile(table.rows, 0, table.rows - 1), lambda: False)
        expected = merge_swaps([pool.seen()])
        engine = make()
        engine.open(table, policy)
        for least in (0.0, 1e18):
            with patch("lawful.engines.spark._WORTH_SWAP_JOBS", least):
                found = merge_swaps([engine.swap_evidence(columns, lambda: False)])
                with pytest.raises(StoppedError):
                    engine.swap_evidence(columns, lambda: True)
            assert found.columns == expected.columns
            assert np.array_equal(found.agree, expected.agree)
            assert np.array_equal(found.refuted, expected.refuted)
        engine.close()


def compares_the_pairs_of_classes(make: EngineFactory, table: EncodedTable) -> None:
    """All pairs that agree on a set, or only how many they are; on the driver or elsewhere."""
    columns, sets = tuple(range(1, 13)), [(6, 7), (4,), (5, 6, 9), (2,)]
    for policy in NullPolicy:
        engine, workspace, pool = make(), Workspace(table, policy), Pool(table, policy, columns)
        engine.open(table, policy)
        expected = [compared_classes(one, pool, workspace, 1e5, lambda: False) for one in sets]
        assert {type(part) for part in expected} == {Pool, int}
        for least in (0.0, 1e18):
            with patch("lawful.engines.spark._WORTH_CLASS_JOBS", least):
                found = engine.pairs_of_classes(pool, sets, [1e5] * len(sets), lambda: False)
                with pytest.raises(StoppedError):
                    engine.pairs_of_classes(pool, sets, [1e12] * len(sets), lambda: True)
                assert engine.pairs_of_classes(pool, [], [], lambda: False) == []
            for one, other in zip(found, expected, strict=True):
                if isinstance(one, Pool) and isinstance(other, Pool):
                    assert np.array_equal(one.agree, other.agree)
                    assert np.array_equal(one.differ, other.differ)
                    assert np.array_equal(one.witnesses, other.witnesses)
                else:
                    assert one == other
        engine.close()
