"""A process that writes manifests while another does, and prints the numbers of those that are its own."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from unittest import mock

from lawful.common.errors import SourceError
from lawful.tables.spread import manifests as module
from lawful.tables.spread.manifests import Manifests


def main(folder: Path, count: int, name: str, *, links: bool) -> None:
    """Write as many as there are to write; with links, no Spark is needed."""
    if links:
        ready(folder, name)
        for number in range(count):
            if module._linked(folder / "manifests", number, f'{{"who": "{name}"}}'):
                sys.stdout.write(f"{number}\n")
        return
    from lawful.engines.session import spark_session

    extra = {"spark.sql.shuffle.partitions": "1"}
    with spark_session(master="local[1]", app_name=name, driver_memory="512m", extra=extra) as handle:
        manifests = Manifests(handle.spark, folder.as_uri())
        ready(folder, name)
        with mock.patch.object(module, "local_path", return_value=None):
            while (number := manifests.last_number() + 1) < count:
                try:
                    manifests.write(number, {"who": name})
                    sys.stdout.write(f"{number}\n")
                except SourceError as error:
                    if "another process" not in str(error):
                        raise


def ready(folder: Path, name: str) -> None:
    (folder / f"{name}.ready").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], links=len(sys.argv) > 4)
