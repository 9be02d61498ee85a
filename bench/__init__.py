"""Benchmarks: named cases, each with its peer beside it in one run. `python -m bench --list` shows them."""
