"""Reading a table needs neither Spark nor, where nothing is quoted, a compiler."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path

import lawful.tables


def loaded_by(program: str, *arguments: str) -> set[str]:
    """The packages that are loaded once a program has run in a Python of its own."""
    report = "\nimport sys; print('LOADED', *{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", program + report, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stdout.rpartition("LOADED ")[2].split())


def test_no_module_of_this_room_imports_spark() -> None:
    modules = [module.name for module in pkgutil.iter_modules(lawful.tables.__path__, "lawful.tables.")]
    assert "lawful.tables.local_pipeline" in modules
    loaded = loaded_by("\n".join(f"import {module}" for module in modules))
    assert "pyarrow" in loaded
    assert not loaded & {"pyspark", "py4j", "pandas", "polars"}


def test_a_plain_file_is_encoded_without_spark_and_without_a_compiler(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    program = """
import sys
from lawful.tables.local_pipeline import encode_in_process
from lawful.tables.options import ReadOptions
assert encode_in_process(sys.argv[1], ReadOptions()).rows == 1
"""
    loaded = loaded_by(program, str(path))
    assert "pyarrow" in loaded
    assert not loaded & {"pyspark", "py4j", "numba"}
