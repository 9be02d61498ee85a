"""Cases of the shared pool: one run for all families beside a run for each, with what they checked and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bench.fd_cases import described
from bench.harness import Case, Measurement, Settings, in_turn

_FAMILIES = ("key", "fd", "canonical-od", "list-od", "dc")


def _together(name: str, families: tuple[str, ...], **options: Any) -> Case:
    """A case: families searched in one run, and in a run each."""

    def case(settings: Settings) -> Iterator[Measurement]:
        import lawful

        file, separator, header, _ = described(settings, name)
        dialect = lawful.CsvDialect(separator=separator, header=header == "1")
        with lawful.open(file, dialect=dialect, engine="local") as table:
            contestants: dict[str, Callable[[], Mapping[str, Any]]] = {
                "one run": lambda: _told([table.discover(families, **options)]),
                "a run each": lambda: _told([table.discover(family, **options) for family in families]),
            }
            for contestant in contestants.values():
                contestant()  # kernels loaded
            yield from in_turn(f"{', '.join(families)} of {name}", contestants, settings.repetitions)

    case.__doc__ = f"{', '.join(families)} of {name}: one run with a shared pool beside a run for each."
    return case


def _told(reports: list[Any]) -> Mapping[str, Any]:
    """What the runs cost; FDs that canonical order dependencies bring along count once."""
    counted = ("checks", "refuted", "pairs")
    found = {law.text for report in reports for law in report}
    return {name: sum(report.counts.get(name, 0) for report in reports) for name in counted} | {"laws": len(found)}


CASES: dict[str, Case] = {
    "pool-adult": _together("adult", _FAMILIES[:4]),
    "pool-claims": _together("claims_coded_102k", _FAMILIES[:4]),
    "pool-tax": _together("tax_10k", _FAMILIES, max_size=2),
}
