"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from cli.conftest import Lawful

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "docs/canonical-ods.md",
    "docs/checks.md",
    "docs/cli.md",
    "docs/definitions.md",
    "docs/denial-constraints.md",
    "docs/discovery.md",
    "docs/errors.md",
    "docs/exports.md",
    "docs/keys-and-fds.md",
    "docs/list-ods.md",
    "docs/living-tables.md",
    "docs/pods.md",
    "docs/report.md",
    "docs/rewrite.md",
    "docs/streams.md",
    "docs/tables.md",
    "docs/tutorial.md",
]


def _steps(page: str) -> list[tuple[str, str]]:
    """The commands of a page, each with what is shown below it. In a block, `$` begins a command."""
    steps: list[tuple[str, list[str]]] = []
    in_block = False
    for line in (ROOT / page).read_text("utf-8").splitlines():
        indented = line.startswith("    ")
        if indented and line[4:].startswith("$ "):
            steps.append((line[6:], []))
            in_block = True
        elif in_block and (indented or not line):
            steps[-1][1].append(line[4:])
        else:
            in_block = False
    return [(command, "\n".join(shown).strip("\n")) for command, shown in steps]


def _pattern(shown: str) -> str:
    """What matches a shown text: `…` stands for anything in a line, and on a line by itself for any lines."""
    pieces = (piece.split("…") for piece in re.split(r"^…$", shown, flags=re.MULTILINE))
    return "(?s:.*)".join(".*".join(map(re.escape, parts)) for parts in pieces)


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_is_shown(
    page: str, lawful: Lawful, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = 0
    steps = _steps(page)
    assert steps
    for command, shown in steps:
        program, *arguments = shlex.split(command)
        if program == "lawful":
            done = lawful(*arguments)
            code, printed = done.code, done.out + done.err
        elif program == "echo":
            assert arguments == ["$?"]
            printed = str(code)
        else:
            assert program == "cat", f"{page}: {command}"
            path = Path(arguments[0])
            if not path.exists():  # the page shows a file that its reader makes
                path.write_text(shown + "\n")
            printed = path.read_text()
        assert re.fullmatch(_pattern(shown), printed.strip("\n")), f"{page}: {command}\n{printed}"


def test_python_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = next(shown for command, shown in _steps("docs/cli.md") if command == "cat people.csv")
    Path("people.csv").write_text(table + "\n")
    result = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted >= 10
    assert result.failed == 0


@pytest.mark.parametrize(
    "page", [*PAGES, "docs/install.md", "docs/platforms.md", "docs/python.md", "docs/security.md", "CHANGELOG.md"]
)
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        linked = path if not file else path.parent / file
        assert linked.exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", linked.read_text("utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in anchors, f"{page}: {target}"
