"""Partial files: whatever ends a run, and whatever runs beside it, every law that was written is still in some file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from allocations import allocations
from full_disks import largest_file
from hypothesis import given
from hypothesis import strategies as st

from lawful.common.errors import UsageError
from lawful.dependencies import format_law
from lawful.discovery.findings import KEY, Block
from lawful.runs.partial_files import PartialFile
from lawful.search import pack_sets

NAMES = ("a", "b", "c", "d")


def block(*places: int) -> Block:
    """FDs of single columns."""
    return Block(3, pack_sets([{place} for place in places], len(NAMES)))


def written(folder: Path) -> dict[str, list[str]]:
    """The left sides in each file."""
    return {
        path.name: [json.loads(line).partition(" ")[0] for line in path.read_text().splitlines()]
        for path in sorted(folder.iterdir())
    }


def killed(out: Path, *places: int) -> None:
    """Leave what a run leaves that found some laws."""
    with PartialFile(out) as kept:
        kept.begin(NAMES)
        kept.append(block(*places))


def test_laws_are_kept_until_the_result_is_written(tmp_path: Path) -> None:
    with PartialFile(tmp_path / "laws.json") as kept:
        kept.begin(NAMES)
        kept.append(block(0))
        kept.append(block(2, 1))
        assert written(tmp_path) == {"laws.json.partial": ["a", "c", "b"]}
        assert kept.path == tmp_path / "laws.json.partial"
        kept.forget()
    assert written(tmp_path) == {}


def test_a_run_that_found_nothing_leaves_nothing_and_touches_nothing(tmp_path: Path) -> None:
    killed(tmp_path / "laws.json", 0, 1)
    with PartialFile(tmp_path / "laws.json") as kept:
        kept.begin(NAMES)
    assert written(tmp_path) == {"laws.json.partial": ["a", "b"]}
    assert kept.path is None


def test_an_earlier_file_goes_when_its_laws_are_found_again(tmp_path: Path) -> None:
    out = tmp_path / "laws.json"
    killed(out, 0, 1)
    with PartialFile(out) as kept:
        kept.begin(NAMES)
        kept.append(block(1))
        assert written(tmp_path) == {"laws.json.2.partial": ["b"], "laws.json.partial": ["a", "b"]}
        assert kept.left == [tmp_path / "laws.json.partial"]
        kept.append(block(2, 0))
        assert written(tmp_path) == {"laws.json.partial": ["b", "c", "a"]}
        kept.append(block(3))
        assert written(tmp_path) == {"laws.json.partial": ["b", "c", "a", "d"]}
        assert kept.left == []
        kept.forget()
    assert written(tmp_path) == {}


def test_a_line_that_was_cut_is_no_law(tmp_path: Path) -> None:
    (tmp_path / "laws.json.partial").write_text('"a -> d"\n"b -')
    killed(tmp_path / "laws.json", 0)
    assert written(tmp_path) == {"laws.json.partial": ["a"]}


def test_runs_at_the_same_time_leave_each_other_alone(tmp_path: Path) -> None:
    out = tmp_path / "laws.json"
    with PartialFile(out) as first, PartialFile(out) as second:
        first.begin(NAMES)
        first.append(block(0))
        second.begin(NAMES)
        second.append(block(0, 1))
        first.append(block(2))
        assert written(tmp_path) == {"laws.json.2.partial": ["a", "b"], "laws.json.partial": ["a", "c"]}
        second.forget()
        assert written(tmp_path) == {"laws.json.partial": ["a", "c"]}
        assert second.left == []


def test_what_one_run_may_remove_another_does_not(tmp_path: Path) -> None:
    out = tmp_path / "laws.json"
    killed(out, 0)
    with PartialFile(out) as first, PartialFile(out) as second:
        first.begin(NAMES)
        second.begin(NAMES)
        second.append(block(0, 1))
        first.append(block(0))
        second.append(block(2))
        assert written(tmp_path) == {"laws.json.3.partial": ["a", "b", "c"], "laws.json.partial": ["a"]}
    assert (first.path, second.path) == (tmp_path / "laws.json.partial", tmp_path / "laws.json.3.partial")


@given(runs=st.lists(st.lists(st.sets(st.integers(0, 3), max_size=2), max_size=3), max_size=6))
def test_whatever_runs_found_is_in_some_file(
    runs: list[list[set[int]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    found: set[str] = set()
    for blocks in runs:
        with PartialFile(folder / "laws.json") as kept:
            kept.begin(NAMES)
            for places in blocks:
                kept.append(block(*places))
                found |= {NAMES[place] for place in places}
                assert {name for names in written(folder).values() for name in names} == found
    sets = [set(names) for names in written(folder).values()]
    assert all(sets)
    assert len(sets) <= 2 ** len(NAMES)


def test_many_laws_are_written_as_few_are(tmp_path: Path) -> None:
    names = [f"c{place}" for place in range(20)]
    sets = pack_sets([[place for place in range(15) if number >> place & 1] for number in range(3_000)], 20)
    for goal in (19, KEY):
        out = tmp_path / f"{goal}.json"
        with PartialFile(out) as kept:
            kept.begin(names)
            kept.append(Block(goal, sets))
        lines = Path(f"{out}.partial").read_text().splitlines()
        assert lines == [json.dumps(format_law(law, names)) for law in Block(goal, sets).laws()]


def test_millions_of_lines_of_an_earlier_run_take_little_memory(tmp_path: Path) -> None:
    out, lines = tmp_path / "laws.json", 1_000_000
    with (tmp_path / "laws.json.partial").open("w") as earlier:
        earlier.writelines(f'"a column with a long name of its own, b{number} -> d"\n' for number in range(lines))
    with PartialFile(out) as kept:
        with allocations() as taken:
            kept.begin(NAMES)
        assert 0 < taken.kept <= taken.peak < 60 * lines  # as texts they take more than a hundred bytes each
        kept.append(block(0))
        assert kept.left == [tmp_path / "laws.json.partial"]


def test_an_earlier_file_that_is_too_large_to_compare_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(tmp_path / "laws.json", 0, 1)
    monkeypatch.setattr("lawful.runs.partial_files._MOST_COMPARED", 10)
    with PartialFile(tmp_path / "laws.json") as kept:
        kept.begin(NAMES)
        kept.append(block(0, 1))
        assert kept.left == [tmp_path / "laws.json.partial"]
    assert written(tmp_path) == {"laws.json.2.partial": ["a", "b"], "laws.json.partial": ["a", "b"]}


def test_a_full_disk_ends_the_writing_but_not_the_run(tmp_path: Path) -> None:
    out = tmp_path / "laws.json"
    killed(out, 0, 1)
    with largest_file(20), PartialFile(out) as kept:
        kept.begin(NAMES)
        for places in ((0,), (2,), (1,), (0, 1)):
            kept.append(block(*places))
        assert kept.failure == f"cannot write {out}.2.partial: File too large"
        assert len(kept.blocks) == 4
    assert (tmp_path / "laws.json.2.partial").read_text() == '"a -> d"\n"c -> d"\n"b'
    assert (tmp_path / "laws.json.partial").read_text() == '"a -> d"\n"b -> d"\n'


def test_other_things_of_such_names_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "laws.json.partial").mkdir()
    (tmp_path / "laws.json.2.partial").symlink_to("nowhere")
    (tmp_path / "laws.json.x.partial").write_text("")
    killed(tmp_path / "laws.json", 0)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"laws.json{number}.partial" for number in ("", ".2", ".3", ".x")}


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match=r"cannot write .*laws\.json\.partial: No such file"),
        PartialFile(tmp_path / "nowhere" / "laws.json") as kept,
    ):
        kept.begin(NAMES)


def test_a_checkpoint_has_a_name_that_no_partial_file_may_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to("laws.json.partial")
    kept = PartialFile("laws.json")
    for name in (
        "laws.json",
        "laws.json.partial",
        "./laws.json.12.partial",
        str(tmp_path / "laws.json.partial"),
        "link",
    ):
        with pytest.raises(UsageError, match="cannot be"):
            kept.refuse_checkpoint(Path(name))
    for name in ("laws.partial", "laws.json.x.partial", "lawsxjson.partial", "../laws.json.partial"):
        kept.refuse_checkpoint(Path(name))
