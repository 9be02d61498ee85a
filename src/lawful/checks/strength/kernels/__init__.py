"""Loops that count how a law fares."""
