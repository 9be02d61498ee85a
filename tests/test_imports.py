"""The rooms of the package may only know the rooms before them, and heavy packages stay in their places."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src"
PACKAGE = SOURCE / "lawful"

ORDER = {
    "common": 0,
    "dependencies": 1,
    "tables": 2,
    "evidence": 3,
    "search": 4,
    "checks": 5,
    "engines": 6,
    # What a run gives back: discovery fills it, and everything after reads it.
    "results": 7,
    # Who is to blame for what laws find wrong: it hears what they think, and sees no table.
    "repairs": 8,
    "discovery": 8,
    "maintenance": 9,
    "runs": 10,
    # These use what was found, and do not know each other.
    "exports": 11,
    "rewriting": 11,
    "reports": 11,
    "demo": 11,
    "api": 12,
    "cli": 13,
    # The front doors: `import lawful` and `python -m lawful`.
    "__init__": 14,
    "__main__": 14,
}
"""The rooms in the order in which data flows through them; a room imports only rooms with smaller numbers."""

ORDER_EXCEPTIONS: dict[tuple[str, str], str] = {("lawful.cli.app", "__init__"): "it prints the version"}
"""(module that imports, room that it imports) -> why it may."""


CALLED_BY_COMMANDS = ("api", "results", "common", "cli", "rewriting", "exports", "demo")
"""The rooms that the command line is made of: the Python functions, what they give back, and what is only shown."""

COMMAND_EXCEPTIONS: dict[tuple[str, str], str] = {
    ("lawful.cli.app", "lawful.__version__"): "it prints the version",
    ("lawful.cli.options", "lawful.discovery.families"): "an entry of the table of options becomes an option",
    ("lawful.cli.options", "lawful.tables.options"): "help names formats and types, and has the defaults of a dialect",
    ("lawful.cli.discovering", "lawful.discovery.families"): "the table of options",
    ("lawful.cli.discovering", "lawful.runs.request"): "the table of options",
    ("lawful.cli.interrupts", "lawful.runs.stopping"): "signals are a program's, and runs have to know its handler",
    (
        "lawful.cli.looking",
        "lawful.tables.kept_tables",
    ): "`lawful cache` looks after files, and Python has no such verb",
    ("lawful.cli.cache_output", "lawful.tables.kept_tables"): "it shows these files",
}
"""(module of the command line, module that it imports) -> why it may."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_by(path: Path, types_too: bool = True) -> Iterator[str]:
    """List what a file imports, inside functions too; `from a import b` counts as `a` and as `a.b`."""
    tree = ast.parse(path.read_text(), filename=str(path))
    for_types = set() if types_too else {id(node) for block in type_blocks(tree) for node in ast.walk(block)}
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def type_blocks(tree: ast.Module) -> list[ast.If]:
    """List the blocks that only type checkers read."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]


def top_packages(path: Path) -> set[str]:
    """Name the packages that running a file imports: naming a type costs nothing and ties nothing."""
    return {name.split(".")[0] for name in imported_by(path, types_too=False)}


def room(name: str) -> str | None:
    """The room of a module of lawful's, which the package itself and its single modules are too."""
    parts = name.split(".")
    if parts[0] != "lawful":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in ORDER else "__init__"


def relative_names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(TESTS.parent)) for path in paths]


def test_numba_is_imported_by_kernels_only():
    def may(path: Path) -> bool:
        return path.parent.name == "kernels" or path == PACKAGE / "common" / "compiled.py"

    offenders = [path for path in modules() if "numba" in top_packages(path) and not may(path)]
    assert relative_names(offenders) == []


def test_spark_is_imported_where_data_is_read_and_checks_are_run_only():
    def may(path: Path) -> bool:
        inside = path.relative_to(PACKAGE).parts
        streams = inside[0] == "maintenance" and len(inside) > 1 and inside[1].startswith("streaming")
        return inside[0] in ("tables", "engines") or streams

    offenders = [path for path in modules() if {"pyspark", "py4j"} & top_packages(path) and not may(path)]
    assert relative_names(offenders) == []


def test_discovery_knows_no_concrete_engine():
    concrete = ("lawful.engines.local", "lawful.engines.spark")
    offenders = [
        path
        for path in modules()
        if room(module_name(path)) == "discovery" and any(name.startswith(concrete) for name in imported_by(path))
    ]
    assert relative_names(offenders) == []


def test_the_peer_that_is_measured_against_is_never_imported():
    offenders = [path for path in [*modules(), *TESTS.rglob("*.py")] if "desbordante" in top_packages(path)]
    assert relative_names(offenders) == []


def test_oracles_know_nothing_of_the_product_but_its_values():
    """What judges the product must not share its mistakes: it takes laws and words from it, and no way to reason."""
    values = ("lawful.dependencies.laws", "lawful.common.meanings", "lawful.dependencies.forms.columns_of")
    offenders = {
        f"{path.name} imports {name}"
        for path in TESTS.rglob("*oracle.py")
        for name in imported_by(path)
        if name.startswith("lawful") and not name.startswith(values) and name != "lawful.dependencies.forms"
    }
    assert sorted(offenders) == []


def test_every_room_has_its_place_in_the_order():
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {path.stem for path in PACKAGE.glob("*.py")}
    assert rooms <= ORDER.keys()


def test_rooms_import_only_rooms_before_them():
    offenders = set()
    for path in modules():
        importer = module_name(path)
        own = room(importer)
        assert own is not None
        for used in filter(None, map(room, imported_by(path))):
            allowed = used == own or ORDER[used] < ORDER[own] or (importer, used) in ORDER_EXCEPTIONS
            if not allowed:
                offenders.add(f"{importer} imports {used}")
    assert sorted(offenders) == []


def test_exceptions_to_the_order_are_still_needed():
    needed = {
        (module_name(path), used)
        for path in modules()
        for used in filter(None, map(room, imported_by(path)))
        if used != room(module_name(path))
    }
    assert set(ORDER_EXCEPTIONS) <= needed


def test_commands_call_the_python_functions():
    """The command line has no way of its own into the rooms: whatever it does, a program can."""
    used = {
        (module_name(path), name)
        for path in modules()
        if room(module_name(path)) == "cli"
        for name in imported_by(path, types_too=False)
        if name.startswith("lawful.") and name.split(".")[1] not in CALLED_BY_COMMANDS
    }
    excused = {entry for entry in used if any(_is_inside(entry, known) for known in COMMAND_EXCEPTIONS)}
    assert sorted(used - excused) == []
    needed = {known for known in COMMAND_EXCEPTIONS if any(_is_inside(entry, known) for entry in used)}
    assert needed == set(COMMAND_EXCEPTIONS)


def _is_inside(entry: tuple[str, str], known: tuple[str, str]) -> bool:
    """Whether a module imports what it may, or something of it."""
    return entry[0] == known[0] and f"{entry[1]}.".startswith(f"{known[1]}.")


@pytest.mark.parametrize("heavy", ["pyspark", "numba", "pandas", "pyarrow", "polars", "altair", "sqlglot"])
def test_importing_lawful_stays_light(heavy):
    program = f"import sys, lawful; print({heavy!r} in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["cache"]])
def test_commands_that_check_nothing_do_not_load_the_compiler(arguments, tmp_path):
    program = (
        f"import atexit, sys; sys.argv = ['lawful', *{arguments!r}]\n"
        "atexit.register(lambda: print('numba' in sys.modules))\n"  # a command ends the process itself
        "from lawful.cli.main import run; run()"
    )
    environment = os.environ | {"LAWFUL_CACHE": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert told.stdout.splitlines()[-1] == "False"
