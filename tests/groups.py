"""How the processes of `make test` share the tests: which ones stay together, and which are begun first.

Marks for groups (`--dist loadgroup`) would do, but pytest-xdist 3.8 does not see them under pytest 9.2. So processes
that collect the tests write down the groups, and the one that hands them out reads that.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# The contract of the local engine compiles most kernels, which are found on disk by everything after it. Meanwhile the
# other process waits for Java where no kernel is needed.
FIRST = (
    "tests/engines/test_conformance.py",
    "local",
    "tests/engines/test_java.py",
    "spark",
    "standalone",
    "connect",
    "tests/test_read_only_places.py",
    "tests/discovery/test_checkpoint.py",
)


def group_of(item: pytest.Item) -> str:
    """What a test shares with others and takes long to start, a process's Spark or a kind of cluster; else its file."""
    given = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    needed = getattr(item, "fixturenames", ())
    if "cluster_of" in needed:
        return str(given.get("kind", "local"))
    if "spark" in needed or any(isinstance(value, str) and value == "spark" for value in given.values()):
        return "spark"
    return item.nodeid.partition("::")[0]


def put_in_order(items: list[pytest.Item], written: Path) -> None:
    """Put what takes long first, so that the processes end at about the same time, and write down the groups."""
    turns = {group: turn for turn, group in enumerate(FIRST)}
    items.sort(key=lambda item: turns.get(group_of(item), len(FIRST)))
    written.write_text(json.dumps({item.nodeid: group_of(item) for item in items}))


class ByGroup(LoadScopeScheduling):
    """Hands out whole groups, in the order in which they were collected."""

    def __init__(self, folder: Path, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.config.option.loadscopereorder = False
        self._folder = folder
        self._groups: dict[str, str] = {}

    def _split_scope(self, nodeid: str) -> str:
        if not self._groups:
            self._groups = json.loads(next(self._folder.iterdir()).read_text())
        return self._groups[nodeid]
