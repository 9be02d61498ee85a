"""What people see of an explanation."""

from __future__ import annotations

from dataclasses import replace

from lawful.cli.output import print_styled
from lawful.results import Explanation
from lawful.results.texts.explanation_text import explanation_lines
from lawful.results.texts.lines import Limits

_WAYS_TO_ALL = "see them all with --all, --json or --violations."


def print_explanation(explained: Explanation, most_groups: int, limits: Limits) -> None:
    """Print the verdict and what explains it."""
    if limits.groups is not None:
        limits = replace(limits, groups=most_groups, everything=_WAYS_TO_ALL)
    print_styled(explanation_lines(explained, limits))
