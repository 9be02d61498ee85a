"""`print(result)` shows what the command line shows, a page at most; a result names itself in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lawful as in_python
from cli.conftest import Lawful
from lawful.results import CheckReport

TABLE = "zip,city,state\n10001,New York,NY\n10001,Newark,NY\n94105,San Francisco,CA\n94105,San Francisco,CA\n"
LAWS = ["zip -> city", "zip -> state", "key(zip)"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)


def without_times(text: str) -> list[str]:
    return [line for line in text.splitlines() if " s, " not in line]


@pytest.mark.parametrize(
    ("result", "command"),
    [
        (lambda: in_python.check("t.csv", LAWS), ["check", "t.csv", "--laws", "; ".join(LAWS)]),
        (lambda: in_python.discover("t.csv"), ["discover", "--exact", "t.csv"]),
        (
            lambda: in_python.discover("t.csv", "canonical-od,dc", error=0, max_size=2),
            ["discover", "t.csv", "--find", "canonical-od,dc", "--max-size", "2"],
        ),
        (lambda: in_python.explain("t.csv", "zip -> city"), ["explain", "t.csv", "zip -> city"]),
        (lambda: in_python.explain("t.csv", "zip, city -> state"), ["explain", "t.csv", "zip, city -> state"]),
        (lambda: in_python.profile("t.csv"), ["profile", "t.csv"]),
    ],
    ids=["check", "discover", "discover more", "explain broken", "explain held", "profile"],
)
def test_print_shows_what_the_command_shows(lawful: Lawful, result: Any, command: list[str]) -> None:
    printed = str(result())
    assert without_times(printed) == without_times(lawful(*command).out)
    assert not printed.endswith("\n")


def test_results_name_themselves_in_one_line() -> None:
    shown = [
        repr(in_python.check("t.csv", LAWS)),
        repr(in_python.discover("t.csv")),
        repr(in_python.discover("t.csv", time_limit=1e-9)),
        repr(in_python.explain("t.csv", "zip -> city")),
        repr(in_python.explain("t.csv", "zip -> state")),
        repr(in_python.profile("t.csv")),
    ]
    found = len(in_python.discover("t.csv"))
    assert shown[0] == "<CheckReport t.csv: 1 of 3 laws hold>"
    assert shown[1] == f"<DiscoveryReport t.csv: {found} minimal laws>"
    assert shown[2].startswith("<DiscoveryReport t.csv: incomplete: ")
    assert shown[3:] == [
        "<Explanation zip -> city: broken by 2 rows>",
        "<Explanation zip -> state: holds>",
        "<TableProfile t.csv: 4 rows, 3 columns>",
    ]


def test_a_page_at_most() -> None:
    width = 90
    wide = pa.table({f"column_{place}": [place, place + 1, 0, 0] for place in range(width)} | {"last": [1, 2, 3, 4]})
    many = [f"column_{place} -> last" for place in range(width)]
    groups = pa.table({"a": [n // 20 for n in range(4_000)], "b": list(range(4_000))})
    results: list[Any] = [
        in_python.check(wide, many),
        in_python.discover(wide, max_size=1),
        in_python.profile(wide),
        in_python.explain(groups, "a -> b"),
        in_python.explain(wide, f"key({', '.join(wide.column_names)})"),
    ]
    for result in results:
        lines = str(result).splitlines()
        assert len(lines) <= 50
        assert any("…" in line for line in lines)
        assert len(repr(result)) < 200
        assert "\n" not in repr(result)
    assert "… and 80 more: see them all with to_dict()." in str(results[0])
    assert "broken  column_0 -> last" in str(results[0])


def test_hostile_names_stay_on_their_line() -> None:
    name = "x\x1b[31m\n2 of 2 laws hold"
    table = pa.table({name: ["a\nb", "a\nb", "\x9b31m"], "b": [1, 2, 3]})
    report = in_python.check(table, f'"{name}" -> b')
    for result in (
        report,
        in_python.discover(table),
        in_python.profile(table),
        in_python.explain(table, f'"{name}" -> b'),
    ):
        assert all(line.isprintable() for line in str(result).splitlines())
        assert repr(result).isprintable()


def test_what_was_stopped_says_so() -> None:
    report = in_python.check("t.csv", LAWS)
    stopped = CheckReport(report.table, report.null_policy, report.outcomes[:1], 3, "local", {})
    assert repr(stopped) == "<CheckReport t.csv: incomplete: stopped after 1 of 3 laws; 0 hold, 1 broken>"
    assert str(stopped).endswith("incomplete: stopped after 1 of 3 laws; 0 hold, 1 broken")
