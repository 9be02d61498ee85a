"""A watch that ends at the n-th look, for every family: what is given by then is right, and says that it is not all."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cli.result_documents import check_document
from opened_runs import open_run

import lawful
from lawful.results import DiscoveryReport
from lawful.runs.discover import discover_laws
from lawful.runs.request import Request
from lawful.runs.run import Where
from lawful.runs.stopping import UserWatch
from lawful.tables.options import ReadOptions

SEARCHES = [
    ("key,fd", "full"),
    ("key,fd", "hybrid"),
    ("canonical-od", "evidence"),
    ("canonical-od", "lattice"),
    ("list-od", "findod"),
    ("list-od", "canonical"),
    pytest.param("pod", "full", marks=pytest.mark.slow),  # it looks very often
    ("pod", "hybrid"),
    ("dc", "full"),
    ("dc", "hybrid"),
    ("dc", "completion"),
    ("key,fd,canonical-od,list-od,pod,dc", "auto"),
]


def table(rows: int = 60) -> pa.Table:
    """A key, a constant, columns that follow others, and some that have nothing to do with each other."""
    random = np.random.default_rng(11)
    base, kind = random.permutation(rows), random.integers(0, 6, rows)
    return pa.table(
        {
            "id": base,
            "one": np.zeros(rows, np.int64),
            "kind": kind,
            "half": kind // 2,
            "value": random.integers(0, 12, rows),
            "grows": base // 4,
        }
    )


class EndsAtLook(UserWatch):
    """Reaches its limit at the n-th look of the search; whoever only waits for the search is not counted."""

    def __init__(self, looks: int) -> None:
        super().__init__(None, None)
        self.left = looks
        self.looks = 0

    @property
    def is_limited(self) -> bool:
        return True

    def reason(self) -> str | None:
        if threading.current_thread() is not threading.main_thread():
            self.looks += 1
        return "enough was looked" if self.looks > self.left else None


def table_for(find: str) -> pa.Table:
    """The table, for denial constraints only some columns of it: they have thousands on all."""
    return table().select(["kind", "half", "value"]).slice(0, 30) if "dc" in find else table()


def discover(source: pa.Table, find: str, strategy: str, watch: UserWatch | None = None) -> DiscoveryReport:
    # Across columns, what a constraint follows from may be among those that were not found yet.
    given = {"cross_columns": False} if "dc" in find else {}
    request = Request(find=tuple(find.split(",")), strategy=strategy, given=given)
    with open_run(source, ReadOptions(), Where("local")) as run:
        return discover_laws(run, request, lambda _: None, watch=watch)


@pytest.mark.parametrize(("find", "strategy"), SEARCHES, ids=lambda value: str(value).replace(",", "+"))
def test_what_is_given_at_any_look_is_right_and_marked(find: str, strategy: str) -> None:
    source = table_for(find)
    everything = {found.text for found in discover(source, find, strategy)}
    looks, kept = 0, -1
    while True:
        watch = EndsAtLook(looks)
        report = discover(source, find, strategy, watch)
        texts = [found.text for found in report]
        document: dict[str, Any] = report.to_dict()
        check_document(document)
        assert len(texts) == len(set(texts))
        if report.complete:
            assert set(texts) == everything
            break
        assert (document["complete"], document["stopped"]) == (False, "enough was looked")
        assert set(texts) <= everything, "all that is given holds, and is minimal"
        kept = max(kept, len(texts))
        looks = 2 * looks + 1
    assert watch.looks > 3, "a search looks at its limits more than at its ends"
    assert kept >= 0, "at least one limit came before the end"


def test_laws_of_one_column_are_there_before_any_pair_is_compared() -> None:
    report = discover(table(), "key,fd", "full", EndsAtLook(5))  # one look for each column that is determined
    texts = {found.text for found in report}
    assert not report.complete
    assert "agree_sets" not in report.counts
    assert texts == {found.text for found in lawful.discover(table(), max_size=1)}
    assert {"key(id)", "{} -> one", "kind -> half", "id -> kind"} <= texts
