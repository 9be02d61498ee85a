"""A run as the Python functions open it, for tests of what happens inside of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lawful.common.meanings import NullPolicy
from lawful.runs.opened import open_source
from lawful.runs.run import Run, Where
from lawful.tables.options import ReadOptions


@contextmanager
def open_run(
    source: Any, options: ReadOptions, where: Where, null_policy: NullPolicy = NullPolicy.EQUAL
) -> Iterator[Run]:
    with open_source(source, options, where) as opened, opened.run(null_policy) as run:
        yield run
