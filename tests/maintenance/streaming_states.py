"""A script, and what tests share with it: files that arrive, a streaming query over them, and what comes of it."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import lawful
from lawful.discovery.questions import Watch
from lawful.engines.local import LocalEngine
from lawful.maintenance.batches import Batch
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import StateFiles
from lawful.runs.arrived_files import read_arrived
from lawful.runs.handed_on import Tellers
from lawful.runs.stream_batches import StreamJob
from lawful.runs.streams import StreamSettings, start, stream_of
from lawful.tables.options import CsvDialect, ReadOptions

PINS = ["key(id)", "zip -> city"]
FILES = 8
LONG_AGO = 1_700_000_000


def lines_of(number: int) -> list[str]:
    """The changes of one file: rows come and leave, some break pinned laws, some do not fit, some are late doubles."""
    chance = random.Random(number)
    first = number * 10
    lines = [f"+,{first + n},{chance.randrange(4)},c{chance.randrange(5)}" for n in range(6)]
    if number:
        lines.append(f"+,{first - 9},1,again")  # the key is there already
        lines.append(f"-,{first - 10},,")  # may have been put aside: then it is not there
        lines.append(f"+,{first + 8},no zip,x")  # the first file has settled that zips are numbers
    return lines


def arrive(folder: Path, number: int) -> None:
    """Let a file arrive whole."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(["_op,id,zip,city", *lines_of(number)]) + "\n"
    fresh = folder / f".{number:03d}.new"
    fresh.write_text(text)
    os.utime(fresh, (LONG_AGO + number, LONG_AGO + number))  # Spark takes files in the order of their times
    fresh.rename(folder / f"{number:03d}.csv")


def run(spark: Any, root: Path, **how: Any) -> Any:
    """Start the query over the files that arrive below a folder."""
    named = stream_of(
        spark,
        str(root / "in"),
        root / "p.state",
        format_="csv",
        dialect=CsvDialect(),
        options={"maxFilesPerTrigger": "1"},
    )
    settings = StreamSettings(
        trigger="available-now",
        misfits="quarantine",
        missing="skip",
        quarantine=root / "aside",
        events=root / "events.jsonl",
        **how,
    )
    return start(named, root / "p.state", _settings(), PINS, settings)


def outcome(root: Path) -> dict[str, Any]:
    """All that a run leaves, without what differs from run to run: times, and the id of the query."""
    with lawful.open_state(root / "p.state", writes=False, engine="local") as state:
        assert state.described(verify=True).differences == []
        changes = [
            {name: value for name, value in entry.items() if name not in ("time", "batch", "stream")}
            | {"number": entry["stream"]["batch"] if "stream" in entry else entry["version"] - 1}
            for entry in state.changes
        ]
        laws = sorted(law.text for law in state.laws)
        kept = list(state.events())
    told = [json.loads(line) for line in (root / "events.jsonl").read_text().splitlines()]
    assert told == kept, "the file of events is what the state tells, each once"
    aside = {
        path.name: [_plain(json.loads(line), root) for line in path.read_text().splitlines()]
        for path in sorted((root / "aside").glob("*.jsonl"))
    }
    return {"changes": changes, "laws": laws, "events": [_plain(event, root) for event in told], "aside": aside}


def _plain(value: dict[str, Any], root: Path) -> Any:
    """Without what may differ: times, ids, and which of several rows that break a law is shown for it."""
    plain = {name: each for name, each in value.items() if name not in ("time", "batch", "_batch")}
    for name in ("reason", "_reason"):
        if str(plain.get(name)).startswith(("breaks it with", "its key is there")):
            plain[name] = "broken"
    if plain.get("event", "aside") != "aside":
        del plain["rows"]
    return json.loads(json.dumps(plain).replace(str(root), "ROOT"))


def planned(root: Path) -> list[list[str]]:
    """The files of each micro-batch that the query has planned, as its checkpoint has them.

    A query that is killed after it has listed a file and before it has planned a batch of it plans one with the next
    file too.
    """
    checkpoint = root / "p.state.checkpoint"
    ends = [json.loads(_last_line(path))["logOffset"] for path in _by_number(checkpoint / "offsets")]
    listed = [Path(json.loads(_last_line(path))["path"]).name for path in _by_number(checkpoint / "sources" / "0")]
    return [listed[begin + 1 : end + 1] for begin, end in pairwise([-1, *ends])]


def _by_number(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*"), key=lambda path: int(path.name))


def _last_line(path: Path) -> str:
    return path.read_text().splitlines()[-1]


def is_done(root: Path) -> bool:
    """Whether every file was applied."""
    state, plan = root / "p.state", planned(root)
    if sum(map(len, plan)) < FILES or not StateFiles.exist(state):
        return False
    with lawful.open_state(state, writes=False, engine="local") as opened:
        return opened.version == len(plan)


def clean_run(root: Path, plan: Sequence[Sequence[str]] | None = None) -> dict[str, Any]:
    """What has to come of all files, without Spark and undisturbed: of batches as planned, or of one for each file."""
    for number in range(FILES):
        arrive(root / "in", number)
    job = StreamJob(str(root / "p.state"), "", _settings(), PINS, names=("id", "zip", "city"))
    state = job.make(None)  # type: ignore[arg-type]  # with names it needs no frame
    tellers = Tellers(root / "events.jsonl", root / "aside")
    for number, names in enumerate(plan or [[path.name] for path in sorted((root / "in").glob("*.csv"))]):
        rows = read_arrived([root / "in" / name for name in names], ReadOptions("csv"), state.table.names)
        batch = Batch(str(number), *job._incoming(state, rows), (), "quarantine", "skip", "quarantine")
        state.apply(batch, LocalEngine, Watch())
        tellers.tell(state, number)
    state.close()
    return outcome(root)


def _settings() -> StateSettings:
    return StateSettings(row_key=("id",), way="witnesses")


def _kill_an_executor(root: Path) -> None:
    """Kill one when some batches are done."""
    from clusters import executor_pids

    while len(list((root / "p.state" / "log").glob("*.batch"))) < 2:
        time.sleep(0.02)
    os.kill(executor_pids()[0], signal.SIGKILL)


def main(root: Path) -> None:
    """Run until all files were applied, on the Spark that this script was started for."""
    from clusters import answer, open_session

    os.environ["LAWFUL_CACHE"] = str(root / "cache")
    with open_session() as spark:
        query = run(spark, root)
        if "kill an executor" in sys.argv:
            _kill_an_executor(root)
        while query.isActive:
            time.sleep(0.1)
        failure = query.exception()
        answer({"failed": None if failure is None else str(failure)[:3000]})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
