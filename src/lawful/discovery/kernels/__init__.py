"""Compiled loops that several families use: coverage, twin columns, a clock that leaves out compiling."""
