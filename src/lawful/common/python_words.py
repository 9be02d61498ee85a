"""What the command line's options are called in Python, so that one error serves both.

Errors name options as they are typed in a terminal. A program that catches one reads the names of its arguments.
"""

from __future__ import annotations

import re

_VALUES = {
    "engine": "auto|local|spark",
    "null": "equal|ignore",
    "measure": "g1|g3",
    "format": "csv|parquet|jsonl",
    "misfits": "quarantine|widen",
    "missing": "skip",
    "dialect": "spark",
    "encoding": r"[a-z]+-[0-9]+",
    "sep": r"'[^']*'",
    "null-token": r"'[^']*'",
}
"""What may stand behind an option and belongs to it."""
_ARGUMENTS = {
    "sep": "separator",
    "null-token": "null_tokens",
    "no-header": "header",
    "no-cache": "reuse",
    "pin": "pins",
    "no-cast": "cast",
}
_FIXED = {"no-header": "False", "no-cache": "False", "no-cast": "False", "resume": "True", "overwrite": "True"}
_OF_THE_DIALECT = ("separator", "header", "quote", "escape", "encoding", "null_tokens")
_OPTIONS = (
    "null-token not-null no-header no-cache max-size min-interest time-limit memory-limit row-key exact-text "
    "misfits missing evidence columns types limit error strategy checkpoint resume find laws index pin conf packages "
    "engine null measure format dialect encoding sep quote escape unidirectional with-implied cross-columns "
    "no-cast overwrite min-strength top table select "
    "convention order-on-text constants operators least-shared least-mean-ratio partition-chain forward-rule flexible"
).split()
_OPTION = re.compile(
    "|".join(
        rf"--{name}(?: (?P<{name.replace('-', '_')}>{_VALUES[name]})(?!\w))?" if name in _VALUES else f"--{name}"
        for name in sorted(_OPTIONS, key=len, reverse=True)
    ).join(("(?<![\\w-])(?:", ")(?![\\w-])"))
)
_MAKE_A_STATE = re.compile(r"(: )?lawful maintain STATE --from TABLE")


def in_pythons_words(text: str) -> str:
    """The text with arguments of Python in place of the command line's options."""
    return _OPTION.sub(_argument, _MAKE_A_STATE.sub(r"\1lawful.make_state(path, source)", text))


def _argument(found: re.Match[str]) -> str:
    option, _, value = found.group().removeprefix("--").partition(" ")
    name = _ARGUMENTS.get(option, option.replace("-", "_"))
    value = _FIXED.get(option) or (value if value.startswith("'") else f'"{value}"' if value else "")
    if name in _OF_THE_DIALECT:
        return f"CsvDialect({name}={value or '…'})"
    return f"{name}={value}" if value else name
