"""The checks of lawful's own families, each loaded with its kernels when a law of its kind is first checked."""

from __future__ import annotations

from importlib import import_module

from lawful.checks.law_checks import LawChecks, register_checks

_HOMES = {
    "key": ("keys_and_fds", "KeyChecks"),
    "fd": ("keys_and_fds", "FDChecks"),
    "canonical-od": ("canonical_ods", "CanonicalODChecks"),
    "list-od": ("list_ods", "ListODChecks"),
    "pod": ("pods", "PODChecks"),
    "dc": ("denials", "DCChecks"),
}
"""The kinds of laws, and the folder and the class of their checks."""


def _load(kind: str) -> LawChecks:
    """Load the checks of one of lawful's own kinds."""
    folder, name = _HOMES[kind]
    checks: LawChecks = getattr(import_module(f"lawful.checks.{folder}.checks"), name)()
    return checks


for kind in _HOMES:
    register_checks(kind, _load)
