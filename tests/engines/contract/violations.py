"""What every engine must tell of the rows that violate a law."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from engines.contract.tables import DENIALS, VIOLATED, EngineFactory
from lawful.checks import Most, Workspace, find_violations, summarize
from lawful.checks.denials.pairs import violating_pairs
from lawful.common.errors import LawfulError
from lawful.common.meanings import NullPolicy
from lawful.dependencies import DC, FD, ListOD, parse_laws
from lawful.tables.encoded_table import EncodedTable
from lawful.tables.shown_rows import Shown


def streams_all_violating_rows(make: EngineFactory, table: EncodedTable) -> None:
    """The rows of `find_violations`, group by group, with whatever is to be shown of them, and in pieces."""
    laws = [*VIOLATED, *parse_laws("\n".join(DENIALS[:5]), table.names)]
    everything = tuple(range(table.width))
    for policy in NullPolicy:
        engine, workspace = make(), Workspace(table, policy)
        engine.open(table, policy)
        for law in laws:
            if isinstance(law, ListOD) and policy is NullPolicy.IGNORE:
                with pytest.raises(LawfulError, match="as ORDER BY does"):
                    list(engine.violations(law))
                continue
            expected = find_violations(law, table, workspace)
            groups = np.repeat(np.arange(expected.offsets.size - 1), np.diff(expected.offsets))
            found = list(engine.violations(law))
            assert np.array_equal(np.concatenate([np.zeros(0), *(batch["row"] for batch in found)]), expected.rows)
            assert np.array_equal(np.concatenate([np.zeros(0), *(batch["group"] for batch in found)]), groups)
        law = VIOLATED[1]
        rows = find_violations(law, table, workspace).rows
        for as_text in (True, False):
            batches = list(engine.violations(law, Shown(everything, as_text)))
            shown = pa.Table.from_batches(batches)
            assert engine.shown_schema(Shown(everything, as_text)) == shown.schema
            assert shown["row"].to_pylist() == rows.tolist()
            assert shown["number"].to_pylist() == [table.place(row).number for row in rows.tolist()]
            assert shown["file"].to_pylist() == [table.place(row).file for row in rows.tolist()]
            if as_text:
                assert shown["10"].to_pylist() == table.texts(rows.tolist(), 10).to_pylist()
                assert shown["5"].to_pylist() == table.texts(rows.tolist(), 5).to_pylist()
            else:
                assert shown.schema.field("10").type == pa.int64()
                assert shown["10"].to_pylist() == [int(text) for text in table.texts(rows.tolist(), 10).to_pylist()]
        engine.close()


def streams_all_violating_pairs(make: EngineFactory, table: EncodedTable) -> None:
    """Two rows a group, t first, however many jobs it takes; other laws as always; and it may be left early."""
    many = "not(t.phone < s.phone and t.salary > s.salary and t.rate >= s.rate)"
    law, plain = parse_laws(f"{many}\n{DENIALS[5]}", table.names)
    assert isinstance(law, DC)
    for policy in NullPolicy:
        engine, workspace = make(), Workspace(table, policy)
        engine.open(table, policy)
        expected = [np.stack(pairs, axis=1) for pairs in violating_pairs(law, workspace)]
        pairs = np.concatenate([np.zeros((0, 2), np.int32), *expected])
        assert len(pairs) > 1_000_000  # more than comes with one job of Spark
        found = pa.Table.from_batches(list(engine.violations(law, in_pairs=True)))
        assert np.array_equal(found["row"].to_numpy(), pairs.ravel())
        assert np.array_equal(found["group"].to_numpy(), np.arange(2 * len(pairs)) // 2)
        assert list(engine.violations(plain, in_pairs=True)) == list(engine.violations(plain))
        left = engine.violations(law, in_pairs=True)
        first = next(left)
        assert first["row"].to_pylist() == pairs.ravel()[: len(first)].tolist()
        left.close()
        again = next(engine.violations(law, in_pairs=True))
        assert again["group"][0].as_py() == 0
        engine.close()


def tells_groups_in_short(make: EngineFactory, table: EncodedTable) -> None:
    workspace = Workspace(table, NullPolicy.EQUAL)
    engine = make()
    engine.open(table, NullPolicy.EQUAL)
    for law in VIOLATED:
        for most in (Most(3), Most(2, 1, 1), Most(0)):
            assert engine.violating_groups(law, most) == summarize(law, table, workspace, most)
    with pytest.raises(LawfulError, match="column"):
        engine.violating_groups(FD((0,), table.width), Most(1))
    engine.close()
