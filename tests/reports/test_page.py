"""The page as a text: everything that is known is in it, and nothing of it can run or reach out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lawful
from lawful.common.errors import LawfulError, UsageError
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import FD
from lawful.reports.document import Status
from lawful.reports.page import ReportPage, script_json
from reports.documents import HOSTILE, document, hostile_table, many_laws


class Elements(HTMLParser):
    """All elements with their attributes, and the texts of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.inside = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.texts.append((self.inside, data))


def data_of(html: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    return json.loads(text)


@pytest.fixture(scope="module")
def tax() -> pa.Table:
    return make_tax_table(2_000, 6).table


@pytest.fixture(scope="module")
def tax_page(tax: pa.Table) -> ReportPage:
    return lawful.report(
        ["zip -> city", "key(area_code, phone)", "{state}: salary asc ~ rate asc", "zip -> state"], tax
    )


def test_broken_laws_come_first_with_their_rows(tax: pa.Table, tax_page: ReportPage) -> None:
    page = data_of(tax_page.to_html())
    report = lawful.check(tax, page["laws"]["text"])
    assert [Status(status) is Status.BROKEN for status in page["laws"]["status"]] == [
        not outcome.holds for outcome in report.outcomes
    ]
    assert page["checked"] == 4
    assert {each["law"] for each in page["broken"]} == {
        place for place, outcome in enumerate(report.outcomes) if not outcome.holds
    }
    for each in page["broken"]:
        outcome = report.outcomes[each["law"]]
        assert (each["rows"], each["pairs"], each["removals"]) == (outcome.rows, outcome.pairs, outcome.removals)
        is_order = outcome.law.kind == "canonical-od"
        assert each["group_count"] == (None if is_order else outcome.groups)
        assert [group["variants"][0]["is_wrong"] for group in each["groups"]] == [is_order] * len(each["groups"])
        for group in each["groups"]:
            assert sum(variant["rows"] for variant in group["variants"]) <= group["rows"]
            assert len({json.dumps(variant["values"]) for variant in group["variants"]}) == len(group["variants"])


def test_the_table_and_its_columns_are_those_of_a_profile(tax: pa.Table, tax_page: ReportPage) -> None:
    shown, profile = data_of(tax_page.to_html())["table"], lawful.profile(tax)
    assert shown["rows"] == profile.rows
    assert shown["columns"] == [column.to_dict() for column in profile.columns]


def test_orders_are_drawn_with_the_rows_that_are_out_of_order(tax_page: ReportPage) -> None:
    page = data_of(tax_page.to_html())
    (plot,) = page["plots"]
    assert page["laws"]["text"][plot["law"]] == "{state}: salary asc ~ rate asc"
    assert plot["out_of_order"] == 1  # one error is planted in a rate
    assert len(plot["points"]) <= page["limits"]["points"]
    for one, other in plot["swaps"]:
        (x1, y1, *_), (x2, y2, *_) = plot["points"][one], plot["points"][other]
        assert (x1 - x2) * (y1 - y2) < 0
    assert [name for name, _ in plot["within"]] == ["state"]


def test_the_page_of_the_strongest_laws_has_entities_statements_and_a_graph(tax: pa.Table) -> None:
    found = lawful.strongest(tax)
    page = data_of(lawful.report(found).to_html())
    stated = {each.text for each in found.statements}
    assert {each["text"] for each in (*page["entities"], *page["statements"])} == stated
    assert [page["laws"]["text"][place] for place in page["laws"]["folded"]] == [f.text for f in found if f.folded]
    almost = [place for place, status in enumerate(page["laws"]["status"]) if status == Status.ALMOST]
    assert [page["laws"]["text"][place] for place in almost] == [f.text for f in found if f.error]
    assert {each["law"] for each in page["broken"]} == set(almost)
    assert all(each["groups"] for each in page["broken"])  # the result has its table at hand
    assert page["graph"]["nodes"]
    assert page["matrix"]["cells"]


def test_every_law_of_a_long_document_is_there() -> None:
    saved = many_laws(3_000)
    page = data_of(lawful.report(saved).to_html())
    assert len(page["laws"]["text"]) == page["total_laws"] == 3_000
    for place, entry in enumerate(saved["dependencies"]):
        names = entry.get("columns") or [*entry["lhs"], entry["rhs"]]
        assert {page["table"]["columns"][c]["name"] for c in page["laws"]["columns"][place]} == set(names)
        assert page["laws"]["strength"][place] == entry["strength"]
        assert page["laws"]["violating"][place] == entry["violating"]
    assert len(page["broken"]) == page["limits"]["broken"]
    assert any("broken and almost-laws" in note for note in page["notes"])


def test_a_document_of_a_check_shows_its_two_rows(tmp_path: Path, tax: pa.Table) -> None:
    path = tmp_path / "checked.json"
    lawful.check(tax, "zip -> city").save(path)
    (broken,) = data_of(lawful.report(path).to_html())["broken"]
    assert broken["is_witness"]
    (group,) = broken["groups"]
    cities = [dict(variant["values"])["city"] for variant in group["variants"]]
    assert len(set(cities)) == 2


def test_nothing_can_run_or_be_loaded_but_the_program_of_the_page(tax_page: ReportPage) -> None:
    html = tax_page.to_html()
    elements = Elements(html)
    policy = next(a["content"] for tag, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    style, data, program = (text for _, text in elements.texts)
    for text, directive in ((style, "style-src"), (program, "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert data.lstrip().startswith("{")
    for tag, attributes in elements.found:
        assert not any(name.startswith("on") or name == "style" for name in attributes), (tag, attributes)
        assert not attributes.get("src")
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "import("):
        assert word not in program
    assert not re.search(r"url\((?!#)", style)
    assert "@import" not in style
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|sendBeacon|localStorage)\b", program)


def test_hostile_names_and_cells_are_data_alone(tmp_path: Path) -> None:
    path = hostile_table(tmp_path)
    names = tuple(lawful.profile(path).names)
    html = lawful.report([lawful.NamedLaw(FD((0,), 1), names), lawful.NamedLaw(FD((2,), 1), names)], path).to_html()
    elements = Elements(html)
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert [tag for tag, _ in elements.found].count("img") == 0
    page = data_of(html)
    assert page["table"]["columns"][0]["name"] == "</script><script>document.title='ran'</script>"
    assert "{{program}}" in json.dumps([page["table"], page["broken"]])
    assert "<" not in re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)[0]


@given(st.recursive(st.text(st.characters(exclude_categories=())) | st.sampled_from(HOSTILE), st.lists, max_leaves=5))
def test_data_survives_its_way_through_a_script_element(value: object) -> None:
    text = script_json({"value": value})
    text.encode("utf-8")
    assert not re.search("[<>\u2028\u2029]", text)
    assert json.loads(text) == {"value": value}


@pytest.mark.parametrize(
    "broken",
    [
        {"table": {"columns": [{"name": "a"}, {"name": "b", "type": 3, "distinct": "x", "nulls": -1, "min": []}]}},
        {"settings": [1], "stats": 7, "entities": [["a", 5], "x", ["b", "zz"]]},
        {"stats": {"seconds": {"total": float("nan"), "x": "y"}, "counts": {"a": 1e999}}},
        {
            "settings": {"null": "equal", "deep": {"deeper": {"deepest": {"x": [1] * 1000}}}},
            "stopped": {},
            "complete": 3,
        },
    ],
)
def test_whatever_else_a_document_says_does_not_break_the_page(broken: dict[str, Any]) -> None:
    fd = {"kind": "fd", "lhs": ["a"], "rhs": "b", "violations": {"rows": "many", "pairs": -2}, "witness": [1, {}]}
    entries = [fd, fd | {"holds": False, "witness": [{"values": 3}, {"number": 3, "file": 7, "values": {"a": [1]}}]}]
    page = lawful.report(document(["a", "b"], entries) | broken)
    assert [Status(status).name for status in data_of(page.to_html())["laws"]["status"]] == ["HOLDS", "BROKEN"]


def test_numbers_that_are_none_are_left_out() -> None:
    entry = {"kind": "key", "columns": ["a"], "strength": float("nan"), "interest": float("inf"), "error": 0.0}
    laws = data_of(lawful.report(document(["a"], [entry])).to_html())["laws"]
    assert (laws["strength"], laws["interest"]) == ([None], [None])


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}),
        pa.table({"a": [1], "b": ["x"]}),
        pa.table({"a": pa.nulls(5), "b": pa.nulls(5, pa.int64())}),
        pa.table({f"c{n}": [1, 2, 2] for n in range(80)}),
    ],
    ids=["empty", "one row", "all null", "wide"],
)
def test_odd_tables_have_pages(table: pa.Table) -> None:
    names = table.column_names
    laws = [f"{names[0]} -> {names[1]}", f"key({names[0]})", f"{{}}: {names[0]} asc ~ {names[1]} asc"]
    page = lawful.report(laws, table)
    assert data_of(page.to_html())["table"]["rows"] == table.num_rows
    found = lawful.report(lawful.strongest(table))
    assert data_of(found.to_html())["total_laws"] == len(lawful.strongest(table))


def test_a_limit_of_time_leaves_a_page_that_says_so(tmp_path: Path) -> None:
    rows = 20_000
    rnd = np.random.default_rng(1)
    table = pa.table({f"c{n}": rnd.integers(0, 50, rows) for n in range(8)})
    laws = [f"{{c{a}}}: c{b} asc ~ c{c} asc" for a in range(8) for b in range(8) for c in range(8) if a != b < c != a]
    page = lawful.report(laws, table, time_limit=1e-9, out=tmp_path / "page.html")
    shown = data_of((tmp_path / "page.html").read_text())
    assert not page.is_whole
    assert shown["checked"] < len(laws)
    assert "were checked before the check was stopped" in shown["notes"][0]
    assert shown["laws"]["status"].count(Status.UNCHECKED) == len(laws) - shown["checked"]


def test_a_page_is_written_whole_to_a_new_place(tmp_path: Path) -> None:
    page, path = lawful.report(many_laws(3)), tmp_path / "page.html"
    page.save(path)
    before = path.read_text()
    with pytest.raises(UsageError, match="it is there already"):
        page.save(path)
    with pytest.raises(UsageError, match="it is there already"):
        lawful.report(many_laws(3), out=path)
    page.save(path, replace=True)
    assert path.read_text() == before == page.to_html()
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]
    for place in (tmp_path, tmp_path / "nowhere" / "page.html"):
        with pytest.raises(UsageError):
            page.save(place)


def test_laws_without_a_table_need_one() -> None:
    with pytest.raises(LawfulError, match="say nothing of a table"):
        lawful.report("zip -> city")


def test_notebooks_show_a_page_in_short_and_escaped(tmp_path: Path) -> None:
    path = hostile_table(tmp_path)
    shown = lawful.report(lawful.strongest(path), path)._repr_html_()
    elements = Elements(shown).found
    assert {tag for tag, _ in elements} == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert {name for _, attributes in elements for name in attributes} <= {"align"}


def test_what_the_page_is_made_of_is_in_the_package() -> None:
    """A wheel has every file beside the modules; this looks where an installed package would."""
    from importlib.resources import files

    from lawful.reports.page import _SCRIPTS

    assets = files("lawful.reports") / "assets"
    there = {entry.name for entry in assets.iterdir() if not entry.name.startswith(".")}
    assert there == {"page.html", "style.css", *_SCRIPTS}
