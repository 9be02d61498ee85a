"""A generated table of hospitals and how they score, with typos: a table as people get it, to try things on.

Each row is one measure of one hospital. By construction, before any cell is damaged:

- `provider_number`, `hospital`, `address` and `phone` determine each other, and all else about the hospital;
- `zip -> city`, `city -> county`, `county -> state`: places nest;
- `measure_code` and `measure` determine each other, and `condition`;
- `key(provider_number, measure_code)`: each hospital reports a measure once.

The same size and seed always give the same table. A damaged cell has one letter or digit replaced by an `x`, or the
value of another row.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lawful.common.errors import UsageError
from lawful.demo.tax_table import MadeTable, PlantedError

_STATES = {"AL": ("Dale", "Clarke"), "GA": ("Troup", "Worth"), "TN": ("Polk", "Obion"), "TX": ("Jasper", "Nolan")}
_SAINTS = ("Anne", "Clare", "Francis", "James", "Luke", "Mark", "Paul", "Rita", "Thomas", "Vincent")
_KINDS = ("General Hospital", "Medical Center", "Memorial Hospital", "Regional Clinic")
_TOWNS = ("Ashford", "Brookton", "Cedar Bluff", "Dothan Hill", "Eastville", "Fairmont", "Glenwood", "Harpersfield")
_STREETS = ("Main Street", "Oak Avenue", "Hospital Drive", "Second Street", "Park Road")
_OWNERS = ("Government - Local", "Voluntary non-profit", "Proprietary")
_MEASURES = {
    "Heart Attack": ("Aspirin at arrival", "Beta blocker at discharge", "Smoking advice", "Statin at discharge"),
    "Heart Failure": ("Discharge instructions", "Ventricular function measured", "Inhibitor given"),
    "Pneumonia": ("Blood culture first", "Antibiotic within six hours", "Vaccination offered", "Oxygen measured"),
    "Surgical Infection": ("Antibiotic within one hour", "Right antibiotic", "Antibiotic stopped in time"),
}
_DAMAGED = ("hospital", "city", "zip", "county", "phone", "owner", "measure", "condition")


def make_hospital_table(rows: int, errors: int = 0, seed: int = 7) -> MadeTable:
    """Generate the table; see `make_tax_table` for the parameters."""
    measures = [
        (f"{condition[0]}{condition.split()[-1][0]}-{number}".upper(), name, condition)
        for condition, names in _MEASURES.items()
        for number, name in enumerate(names, 1)
    ]
    if rows < 1 or errors < 0:
        raise UsageError("a table needs at least one row, and no fewer than no errors")
    random = np.random.default_rng(seed)
    hospitals = [_hospital(number, random) for number in range(-(-rows // len(measures)))]
    columns: dict[str, list[str]] = {name: [] for name in (*hospitals[0], "measure_code", "measure", "condition")}
    columns |= {"score": [], "patients": []}
    for hospital in hospitals:
        for code, measure, condition in measures:
            about = {"measure_code": code, "measure": measure, "condition": condition}
            counted = {"score": f"{random.integers(40, 101)}", "patients": f"{random.integers(5, 900)}"}
            for name, value in (hospital | about | counted).items():
                columns[name].append(value)
    columns = {name: values[:rows] for name, values in columns.items()}
    planted = _damage(columns, errors, random)
    return MadeTable(pa.table(columns), planted)


def _hospital(number: int, random: np.random.Generator) -> dict[str, str]:
    """All that is always the same of a hospital; hospitals that share a zip share its place."""
    place = int(random.integers(0, 24))
    town = _TOWNS[place % len(_TOWNS)] if place < len(_TOWNS) else f"{_TOWNS[place % len(_TOWNS)]} {place // 8}"
    state = list(_STATES)[place % len(_STATES)]
    return {
        "provider_number": f"{10_000 + 7 * number}",
        "hospital": f"St. {_SAINTS[number % 10]} {_KINDS[number // 10 % 4]}"
        + (f" {number // 40}" if number >= 40 else ""),
        "address": f"{100 + 13 * number} {_STREETS[number % len(_STREETS)]}",
        "city": town,
        "state": state,
        "zip": f"{35_000 + 11 * place}",
        "county": _STATES[state][place // 4 % 2],
        "phone": f"256{5_000_000 + 3_917 * number}",
        "owner": _OWNERS[int(random.integers(0, len(_OWNERS)))],
        "emergency": "Yes" if random.random() < 0.7 else "No",
    }


def _damage(columns: dict[str, list[str]], errors: int, random: np.random.Generator) -> tuple[PlantedError, ...]:
    """Change some cells, each once: mostly typos."""
    rows = len(columns["city"])
    cells = [(row, name) for row in range(rows) for name in _DAMAGED]
    if errors > len(cells):
        raise UsageError(f"{rows} rows have room for {len(cells)} errors, and not for {errors}")
    planted = []
    for place in sorted(random.choice(len(cells), errors, replace=False).tolist()):
        row, name = cells[place]
        was = columns[name][row]
        letter = int(random.integers(0, len(was)))
        now = f"{was[:letter]}x{was[letter + 1 :]}"
        if random.random() < 0.3:
            now = columns[name][int(random.integers(0, rows))]
        if now != was:
            columns[name][row] = now
            planted.append(PlantedError(row, name, was, now, ()))
    return tuple(planted)
