"""Printing an explanation."""

from __future__ import annotations

from dataclasses import replace

from lawful.cli.output import print_styled, shown_limits
from lawful.results import Explanation
from lawful.results.texts.explanation_text import explanation_lines


def print_explanation(explained: Explanation, most_groups: int) -> None:
    """Print the verdict and what explains it."""
    limits = replace(shown_limits(), groups=most_groups, everything="see them all with --json or --violations.")
    print_styled(explanation_lines(explained, limits))
