"""A program that writes to states and may be killed at any time.

It imports everything once and applies a fixed list of batches to the state in a folder, so that all kernels are loaded:
else most writers would be killed while they load some. For every other folder, read from standard input, it makes a
copy of itself, which applies the batches to the state there, as far as that is not done yet; it prints the copy's
number, and when the copy has ended, how.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from pathlib import Path

from lawful.dependencies import FD, CanonicalOD, Key, Law, ListOD
from lawful.maintenance import stored_state
from lawful.maintenance.living_state import LivingState
from lawful.maintenance.settings import StateSettings
from lawful.maintenance.state_files import StateFiles
from maintenance.changing_tables import Row, apply, make_state

WIDTH = 3
WAYS = {
    "counted": StateSettings(way="counted"),
    "witnesses": StateSettings(way="witnesses"),
    "pod": StateSettings(("pod",)),
    "key-fd-pod": StateSettings(("key", "fd", "pod"), way="witnesses"),
    "all": StateSettings(("key", "fd", "canonical-od", "list-od", "pod", "dc")),
    "hidden": StateSettings(("list-od",), max_size=2),
}
"""What a state keeps and how, by the name of its folder."""
PINNED = "pinned"
"""The name of a folder whose state keeps pinned laws alone."""
PINS: list[Law] = [
    Key((0, 1)),
    FD((0,), 1),
    CanonicalOD((0,), 1, 2, "asc"),
    ListOD(((0, "asc"),), ((1, "asc"),)),
]
FIRST: list[Row] = [(1, 2, 3), (1, 2, None), (2, 0, 0)]


def batches() -> list[tuple[list[Row], list[Row]]]:
    """Rows that come and rows that leave, some of which come and leave again and again."""
    chance = random.Random(7)
    rows, made = list(FIRST), []
    for _ in range(14):
        gone = chance.sample(rows, chance.randrange(min(3, len(rows) + 1)))
        for row in gone:
            rows.remove(row)
        come = [tuple(chance.choice([None, 0, 1, 2, 3]) for _ in range(WIDTH)) for _ in range(chance.randrange(4))]
        rows += come
        made.append((come, gone))
    return made


def opened(folder: Path, way: str) -> LivingState:
    """The state, made if it is not there."""
    if StateFiles.exist(folder):
        return LivingState.open(folder, writes=True)
    if way == PINNED:
        return make_state(folder, FIRST, WIDTH, StateSettings((), only_pinned=True), PINS)
    return make_state(folder, FIRST, WIDTH, WAYS[way])


def work(folder: Path) -> None:
    """Go on where the state is, and give its last batch again."""
    stored_state._MOST_LOGGED = 3  # so that many writers are killed while they write a new base
    state = opened(folder, folder.name)
    every = batches()
    for number in range(max(0, state.table.version - 1), len(every)):
        applied = apply(state, *every[number], f"batch {number}")
        assert applied.version == number + 1
    state.close()


def tell(line: str) -> None:
    """Give a line to whoever started this."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Work in the first folder, and make a copy for every other one."""
    work(Path(sys.argv[1]))
    assert threading.active_count() == 1, "copies have no other threads, and may wait for them"
    tell("ready")
    for line in sys.stdin:
        copy = os.fork()
        if copy == 0:
            try:
                work(Path(line.rstrip("\n")))
            except BaseException as error:
                sys.stderr.write(f"failed: {error!r}\n")
                sys.stderr.flush()
                os._exit(1)
            os._exit(0)
        tell(str(copy))
        _, status = os.waitpid(copy, 0)
        tell(str(os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    main()
