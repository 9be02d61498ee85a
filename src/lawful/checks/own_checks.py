"""The checks of lawful's own families."""

from __future__ import annotations

from lawful.checks.canonical_ods.checks import CanonicalODChecks
from lawful.checks.denials.checks import DCChecks
from lawful.checks.keys_and_fds.checks import FDChecks, KeyChecks
from lawful.checks.law_checks import LawChecks, register_checks
from lawful.checks.list_ods.checks import ListODChecks
from lawful.checks.pods.checks import PODChecks

CHECKS: dict[str, LawChecks] = {
    "key": KeyChecks(),
    "fd": FDChecks(),
    "canonical-od": CanonicalODChecks(),
    "list-od": ListODChecks(),
    "pod": PODChecks(),
    "dc": DCChecks(),
}

for kind, checks in CHECKS.items():
    register_checks(kind, checks)
