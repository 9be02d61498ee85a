"""Thinking about denial constraints: inversion of evidence, and what follows from what."""
