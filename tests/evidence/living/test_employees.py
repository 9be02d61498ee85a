"""The example that runs through the paper, step by step, as the errata mend it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lawful.common.meanings import NullPolicy
from lawful.evidence.living.agree_multiset import AgreeMultiset, CountedSets
from lawful.evidence.living.agree_set_tree import AgreeSetTree
from lawful.evidence.living.dynast import Dynast, Evidence, tuple_evidence_vectors
from lawful.evidence.living.live_rows import LiveRows
from tests.evidence.living.histories import STRATEGIES

FN, LN, P, S = range(4)
NAMES = ("FN", "LN", "P", "S")
# Table 1; t3 is an Employee, as Tables 2 and 3 have it (Y12).
EMPLOYEES = (
    ("John", "Bond", "Manager", "2500"),
    ("Marie", "Miller", "Manager", "3000"),
    ("Marie", "Bond", "Employee", "2000"),
    ("Tom", "Gray", "Manager", "3000"),
    ("John", "Miller", "Employee", "2000"),
    ("Anna", "Scott", "Manager", "3000"),
)
VALUES = [list(dict.fromkeys(column)) for column in zip(*EMPLOYEES, strict=True)]
# Table 2, but that codes begin with 1: 0 is null here.
CODES = np.array([[VALUES[c].index(row[c]) + 1 for row in EMPLOYEES] for c in range(4)], np.int32)
IDS = np.arange(1, 7)


def shown(sets: CountedSets) -> Counter[str]:
    """Agree sets as the paper writes them: FN is the first bit."""
    texts = ["".join(str(int(word) >> c & 1) for c in range(4)) for word in sets.agree[:, 0]]
    return Counter(dict(zip(texts, sets.counts.tolist(), strict=True)))


def test_the_compressed_relation_of_table_2() -> None:
    assert (CODES.T - 1).tolist() == [
        [0, 0, 0, 0],
        [1, 1, 0, 1],
        [1, 0, 1, 2],
        [2, 2, 0, 1],
        [0, 1, 1, 2],
        [3, 3, 0, 1],
    ]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_multisets_of_section_3(strategy: str) -> None:
    multiset = AgreeMultiset.of(CODES[:, :4], IDS[:4], NullPolicy.EQUAL, strategy=strategy)
    assert shown(multiset.sets()) == {"0010": 2, "0100": 1, "1000": 1, "0011": 1, "0000": 1}
    gone = multiset.delete(np.array([4]))
    assert shown(gone) == {"0010": 1, "0011": 1, "0000": 1}
    # {P} stays: t1 and t2 have it too, which is why counts are kept at all.
    assert {text for text, is_gone in zip(shown(gone), gone.is_gone, strict=True) if is_gone} == {"0011", "0000"}
    came = multiset.insert(CODES[:, 4:], IDS[4:])
    assert shown(came) == {"1000": 1, "0100": 1, "0011": 2, "0000": 2, "0010": 1}
    assert {text for text, is_new in zip(shown(came), came.is_new, strict=True) if is_new} == {"0011", "0000"}
    assert shown(multiset.sets()) == {"0100": 2, "0010": 2, "1000": 2, "0011": 2, "0000": 2}
    assert (multiset.rows, len(multiset)) == (5, 5)


def employees_before() -> tuple[LiveRows, Dynast]:
    rows = LiveRows(4)
    rows.append(CODES[:, :4], IDS[:4])
    return rows, Dynast(rows, NullPolicy.EQUAL)


def test_the_attribute_value_evidence_vectors_of_table_3() -> None:
    _, dynast = employees_before()
    vectors = {
        (NAMES[column], VALUES[column][code - 1]): format(bits, "04b")[::-1]
        for (column, code), bits in dynast.vectors.items()
    }
    assert vectors == {
        ("FN", "John"): "1000",
        ("FN", "Marie"): "0110",
        ("FN", "Tom"): "0001",
        ("LN", "Bond"): "1010",
        ("LN", "Miller"): "0100",
        ("LN", "Gray"): "0001",
        ("P", "Manager"): "1101",
        ("P", "Employee"): "0010",
        ("S", "2500"): "1000",
        ("S", "3000"): "0101",
        ("S", "2000"): "0010",
    }
    assert dynast.clusters[P, 1] == {0, 1, 3}


def test_the_tuple_evidence_vector_of_figure_2() -> None:
    _, dynast = employees_before()
    first, *others = (dynast._lifted((column, 1)) for column in range(4))
    for vector in others:
        first @= vector
    assert ["".join(str(int(word) >> c & 1) for c in range(4)) for word in first.bits[:, 0]] == [
        "1111",  # t1 with itself, which is left out by its position
        "0010",
        "0100",
        "0010",
    ]


def test_indices_follow_the_batch() -> None:
    rows, dynast = employees_before()
    dynast.exchanged(*rows.bring_last(np.array([4])))
    dynast.dropping(1)
    rows.drop_last(1)
    assert (FN, 3) not in dynast.vectors  # Tom has left, and his vector with him (Y6)
    assert (FN, 3) not in dynast.clusters
    rows.append(CODES[:, 4:], IDS[4:])
    dynast.appended(2)
    assert dynast.vectors == Dynast(rows, NullPolicy.EQUAL).vectors
    assert format(dynast.vectors[P, 1], "05b")[::-1] == "11001"


def test_eight_products_instead_of_twelve() -> None:
    """The four tuples of section 5.3 share v13 and v14, and two of them v12 besides."""
    rows = np.random.default_rng(1).integers(0, 16, (9, 6)).astype(np.uint64)
    v11, v21, v31, v41 = (Evidence(rows[i, :, None] & np.uint64(1)) for i in range(4))
    v12, v32, v42 = (Evidence(rows[i, :, None] & np.uint64(2)) for i in range(4, 7))
    v13, v14 = Evidence(rows[7, :, None] & np.uint64(4)), Evidence(rows[8, :, None] & np.uint64(8))
    tuples = {1: [v11, v12, v13, v14], 2: [v21, v12, v13, v14], 3: [v31, v32, v13, v14], 4: [v41, v42, v13, v14]}
    expected = {t: a.bits | b.bits | c.bits | d.bits for t, (a, b, c, d) in tuples.items()}
    made, products = tuple_evidence_vectors(tuples)
    assert products == 8
    assert {t: vector.bits.tolist() for t, vector in made.items()} == {t: b.tolist() for t, b in expected.items()}


def test_one_attribute_needs_no_product() -> None:
    only = Evidence(np.ones((3, 1), np.uint64))
    assert tuple_evidence_vectors({7: [only], 8: []}) == ({7: only}, 0)


def test_the_query_of_section_6() -> None:
    """Who breaks LN -> P agrees on LN and not on P: 0100, 1100, 0101 and 1101, of which 0100 occurs, twice (Y11)."""
    multiset = AgreeMultiset.of(CODES[:, [0, 1, 2, 4, 5]], IDS[[0, 1, 2, 4, 5]], NullPolicy.EQUAL)
    tree = AgreeSetTree(4, NullPolicy.EQUAL)
    tree.change(*multiset.arrays().values())
    assert tree.nodes == 5  # figure 3: the root, FN, LN, P, and S below P
    keys, counts = tree.violating(np.array([1 << LN], np.uint64), P)
    assert (keys.tolist(), counts.tolist()) == ([[1 << LN]], [2])
    left, right = np.array([[1 << LN], [1 << P], [1 << S]], np.uint64), np.array([P, S, P])
    assert tree.violations(left, right).tolist() == [2, 2, 0]
    assert multiset.violation_counts().violations(left, right).tolist() == [2, 2, 0]
