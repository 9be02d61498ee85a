"""The Python that docs/rewrite.md shows does what it shows."""

from __future__ import annotations

import doctest
from pathlib import Path


def test_python_of_the_page() -> None:
    page = Path(__file__).parents[2] / "docs" / "rewrite.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted >= 4
    assert result.failed == 0
