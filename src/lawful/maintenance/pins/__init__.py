"""Pinned laws: watched batch by batch, each by an index that takes rows in and out."""
