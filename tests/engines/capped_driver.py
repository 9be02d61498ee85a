"""A script: shuffles 600,000 rows while no job may give the driver more than 6 MB, a fifth of the ranks."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from unittest.mock import patch

from clusters import answer
from shuffled_tables import mixed_table, write_parts

import lawful
from lawful.engines.session import spark_session
from lawful.tables.shuffled import table as table_module

ROWS = 600_000


def main() -> None:
    settings = {"spark.driver.maxResultSize": "6m", "spark.sql.autoBroadcastJoinThreshold": "-1"}
    with (
        tempfile.TemporaryDirectory() as name,
        spark_session(master="local[2]", driver_memory="700m", extra=settings) as handle,
        patch.object(table_module, "SAMPLED_ROWS", 20_000),
    ):
        source = write_parts(mixed_table(ROWS), Path(name) / "mixed", 3)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        where = lawful.SparkSettings(session=handle.spark, placement="shuffle")
        columns = ["id", "a", "b", "s", "half", "c"]
        report = lawful.check(source, "id -> half; half -> id; {c}: half asc ~ id asc", spark=where, columns=columns)
        found = lawful.discover(source, ("key", "fd"), max_size=1, spark=where, columns=columns)
        answer(
            {
                "holds": [outcome.holds for outcome in report.outcomes],
                "pairs": report.outcomes[1].pairs,
                "laws": len(found),
                "more_mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10,
            }
        )


if __name__ == "__main__":
    main()
