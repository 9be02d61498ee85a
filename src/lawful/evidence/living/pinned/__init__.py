"""Indexes of single laws on a living table: what breaks a law is counted while rows come and go."""
