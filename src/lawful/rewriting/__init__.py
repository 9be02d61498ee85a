"""Shorter queries that say the same, by the laws of the table that they read."""

from lawful.rewriting.known_laws import KnownColumn, KnownLaws
from lawful.rewriting.result import IndexUse, Rewriting, Step
from lawful.rewriting.rewrite import rewrite

__all__ = ["IndexUse", "KnownColumn", "KnownLaws", "Rewriting", "Step", "rewrite"]
