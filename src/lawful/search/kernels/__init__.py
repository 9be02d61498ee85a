"""Compiled loops over packed sets: hitting sets, tries, supersets, bitmaps."""
