"""The strongest laws as people get them: from Python and from the command line, saved, loaded and checked again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import lawful
from lawful.checks import Workspace, find_violations
from lawful.common.errors import UsageError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import FD
from lawful.dependencies.folding import follows_from
from lawful.discovery.strongest import discover as search
from lawful.results import StrongestReport
from lawful.results.statements import entities_of
from lawful.results.texts.lines import ALL, COMMAND_PAGE, plain_text
from lawful.results.texts.strongest_text import strongest_lines
from lawful.results.texts.table_text import short_count


@pytest.fixture(scope="module")
def dirty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 visits to 30 shops that have a code and a name, in 12 towns of 4 regions; one name in fifty is misspelt."""
    rng = np.random.default_rng(4)
    shop = rng.integers(0, 30, 600)
    lines = ["visit,shop,name,town,region,country,spent"]
    for visit, number in enumerate(shop.tolist()):
        name = f"shop no {number:02}" + ("x" if rng.random() < 0.02 else "")
        town = number % 12
        lines.append(f"{visit},{number + 100},{name},t{town},r{town % 4},here,{rng.integers(1, 60)}")
    path = tmp_path_factory.mktemp("dirty") / "visits.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def report(dirty: Path) -> StrongestReport:
    return lawful.strongest(dirty, reuse=False)


def test_it_states_what_matters(report: StrongestReport) -> None:
    texts = [statement.text for statement in report.statements]
    assert "key(visit)" in texts
    assert "shop = name" in texts
    assert "shop -> town, region" in texts or "shop -> town" in texts
    assert "town -> region" in texts
    assert not any("spent" in text for text in texts)
    assert [report.table.names[column] for column in report.constants] == ["country"]
    assert report.complete


def test_nothing_is_lost_by_folding(report: StrongestReport) -> None:
    stated = [found.law.positional for found in report.stated()]
    assert 0 < len(stated) < len(report)
    assert all(follows_from(stated, found.law.positional, report.table.width) for found in report)
    assert sorted(found.text for statement in report.statements for found in statement.laws) == sorted(
        found.text for found in report.stated()
    )


def test_laws_are_listed_strongest_first(report: StrongestReport) -> None:
    for kind in ("key", "fd", "canonical-od"):
        strengths = [found.strength for found in report.of_kind(kind)]
        assert strengths == sorted(strengths, reverse=True)
    assert len(report) == sum(len(report.of_kind(kind)) for kind in ("key", "fd", "canonical-od"))


def test_the_document_is_read_back_and_checked(report: StrongestReport, dirty: Path, tmp_path: Path) -> None:
    report.save(tmp_path / "laws.json")
    document = json.loads((tmp_path / "laws.json").read_text())
    assert document == json.loads(json.dumps(report.to_dict()))
    assert {"strength", "tested", "violating", "error", "interest", "folded"} <= document["dependencies"][0].keys()
    assert ["shop", "name"] in document["entities"]
    saved = lawful.load(tmp_path / "laws.json")
    told = {(found.text, found.folded, found.tested) for found in report}
    assert {(found.text, found.folded, found.tested) for found in saved} == told
    ranks = [(found.folded, -(found.strength or 0.0)) for found in saved]
    assert ranks == sorted(ranks)
    checked = lawful.check(dirty, tmp_path / "laws.json", reuse=False)
    assert all(outcome.holds for outcome in checked.outcomes)  # each within its own error


def test_its_numbers_are_those_of_all_violations(report: StrongestReport) -> None:
    workspace = Workspace(report.table, NullPolicy.EQUAL)
    for found in report:
        violations = find_violations(found.law.positional, report.table, workspace)
        assert found.violating == violations.rows.size
        assert found.error == pytest.approx((violations.removals or 0) / 600)


def test_it_shows_itself(report: StrongestReport) -> None:
    assert "shop = name" in str(report)
    assert "always the same: country" in str(report)
    assert "strong laws" in repr(report)
    assert "<table>" in report._repr_html_()
    frame = report.to_dataframe()
    assert list(frame["law"]) == [found.text for found in report]


@pytest.fixture(scope="module")
def many_laws(tmp_path_factory: pytest.TempPathFactory) -> StrongestReport:
    """A table with long names and more laws than a screen has lines, some of them broken."""
    rng = np.random.default_rng(7)
    base = [rng.integers(0, 12, 800) for _ in range(3)]
    names, columns = [f"a rather long name of base column {i}" for i in range(3)], list(base)
    for number in range(12):
        made = (base[number % 3] * (7 + number)) % (5 + number % 4)
        columns.append(np.where(rng.random(800) < 0.02 * (number % 2), 99, made))
        names.append(f"a column with the long name of number {number}")
    lines = [",".join(names), *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
    path = tmp_path_factory.mktemp("many") / "many.csv"
    path.write_text("\n".join(lines) + "\n")
    return lawful.strongest(path, reuse=False)


@pytest.mark.parametrize("width", [80, 200])
def test_a_screen_is_not_longer_or_wider_than_that(many_laws: StrongestReport, width: int) -> None:
    shown = plain_text(strongest_lines(many_laws, replace(COMMAND_PAGE, width=width))).splitlines()
    assert 20 < len(shown) <= 40
    assert max(map(len, shown)) <= width
    assert any("more: see them all" in line for line in shown) == (width == 80)


def test_without_a_screen_all_is_shown(many_laws: StrongestReport) -> None:
    shown = ["".join(part.text for part in line) for line in strongest_lines(many_laws, ALL)]
    assert not any("more: see them all" in line for line in shown)
    assert all(any(line.endswith(statement.text) for line in shown) for statement in many_laws.statements)


def test_it_says_what_the_table_is_and_shows_two_rows_that_break_a_law(report: StrongestReport) -> None:
    shown = str(report).splitlines()
    assert shown[:3] == [
        "visits.csv: 600 rows, 7 columns, engine local",
        "4 string, 3 integer; no nulls",
        "always the same: country",
    ]
    (place,) = [number for number, line in enumerate(shown) if line.startswith("broken")]
    first, second = shown[place + 1 : place + 3]
    assert shown[place] == f"broken    {report.examples[0].text}"
    assert first.strip().startswith("line ")
    assert first.split(": ")[1] != second.split(": ")[1]
    assert "shop = " in first
    assert "shop = " in second


def test_sizes_that_were_left_out_are_named(dirty: Path) -> None:
    with patch.object(search, "_MOST_WORK", 300_000):
        found = lawful.strongest(dirty, reuse=False)
    assert found.settings["sizes"] == 1
    assert "laws by one column alone were looked for" in str(found)
    assert found.complete


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (9_999, "9,999"), (10_000, "10.0k"), (999_499, "999k"), (999_500, "1.00M"), (53_123_456_789, "53.1G")],
)
def test_counts_in_short(number: int, shown: str) -> None:
    assert short_count(number) == shown


def test_what_cannot_be_asked_for(dirty: Path) -> None:
    with pytest.raises(UsageError, match="not searched for by strength"):
        lawful.strongest(dirty, "dc", reuse=False)
    with pytest.raises(UsageError, match="at least one law"):
        lawful.strongest(dirty, top=0, reuse=False)
    with pytest.raises(UsageError, match="time limit"):
        lawful.strongest(dirty, time_limit=0, reuse=False)


def test_only_some_kinds_and_null_ignored(dirty: Path) -> None:
    found = lawful.strongest(dirty, "fd", top=3, max_size=1, null="ignore", reuse=False)
    assert {law.law.kind for law in found} == {"fd"}
    assert len(found) == 3
    assert found.entities == ()


def test_entities_lose_little_both_ways() -> None:
    mutual = {FD((0,), 1): 0.1, FD((1,), 0): 0.0, FD((1,), 2): 0.02, FD((2,), 1): 0.3, FD((3,), 4): 0.0}
    assert entities_of(mutual) == [(0, 1)]
    assert entities_of(mutual | {FD((4,), 3): 0.0, FD((2, 3), 0): 0.0}) == [(0, 1), (3, 4)]


def test_exceptions_come_after_mistakes(tmp_path: Path) -> None:
    """Forty shops of forty streets, one of which has a second shop; one street in fifty is misspelt."""
    rng = np.random.default_rng(5)
    lines = ["visit,shop,street,measure"]
    for visit in range(2_000):
        shop = int(rng.integers(0, 41))
        street = f"street {shop % 40:02}" + ("x" * int(rng.integers(1, 9)) if rng.random() < 0.02 else "")
        lines.append(f"{visit},shop {shop:02},{street},{rng.integers(0, 5)}")
    (tmp_path / "shops.csv").write_text("\n".join(lines) + "\n")
    found = lawful.strongest(tmp_path / "shops.csv", reuse=False)
    exceptional = {law.text: law.exceptions for law in found.fds()}
    assert exceptional == {"shop -> street": False, "street -> shop": True}
    assert found.entities == ()
    listed = [entry["text"] for entry in found.to_dict()["dependencies"]]
    assert listed.index("shop -> street") < listed.index("street -> shop")
    text = str(found)
    assert text.index("shop -> street") < text.index("dependencies with exceptions") < text.index("street -> shop")
    found.save(tmp_path / "laws.json")
    assert {law.text: law.exceptions for law in lawful.load(tmp_path / "laws.json").fds()} == exceptional
