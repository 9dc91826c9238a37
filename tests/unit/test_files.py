"""Files and private directories: written whole or not at all, for their owner alone, and through no link of others."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from anondb.compare.results import COLUMNS, write_csv
from anondb.engine.files import move, write_file, write_private
from anondb.engine.spill import new_private, private_directory, sweep
from anondb.errors import InputError


def test_only_the_owner_reads_a_new_or_replaced_file(tmp_path: Path) -> None:
    page, table = tmp_path / "page.html", tmp_path / "all.csv"
    page.write_text("old")
    page.chmod(0o644)
    write_private(page, "new\r\n")
    write_csv(str(table), [])
    assert page.read_bytes() == b"new\r\n" and table.read_bytes() == f"{','.join(COLUMNS)}\r\n".encode()
    assert {stat.S_IMODE(file.stat().st_mode) for file in (page, table)} == {0o600}


@pytest.mark.parametrize(("failure", "raised"), [(OSError, InputError), (KeyboardInterrupt, KeyboardInterrupt)])
def test_a_failure_leaves_the_file_and_its_folder_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException], raised: type[BaseException]
) -> None:
    def fails(*_: Any) -> None:
        raise failure

    table = tmp_path / "all.csv"
    table.write_text("old")
    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(raised):
        write_csv(str(table), [])
    assert table.read_text() == "old" and list(tmp_path.iterdir()) == [table]


@pytest.mark.parametrize("path", ["", "a\0b", "no/such/folder/file"])
def test_a_path_that_no_file_can_have(path: str) -> None:
    with pytest.raises(InputError) as caught:
        write_private(path, "")
    assert caught.value.code == "bad_path"


@pytest.mark.parametrize("links", [True, False])
def test_a_name_that_is_taken_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    def fails(*_: Any) -> None:
        raise PermissionError

    if not links:
        monkeypatch.setattr(os, "link", fails)
    made, taken = tmp_path / "made", tmp_path / "taken"
    made.write_text("new")
    move(made, taken, False)
    assert taken.read_text() == "new" and not made.exists()
    with pytest.raises(FileExistsError):
        write_file(taken, "other", replace=False)
    assert taken.read_text() == "new" and list(tmp_path.iterdir()) == [taken]


DIES = "import sys; from anondb.engine.spill import new_private; print(new_private(*sys.argv[1:]), flush=True)"


def test_directories_of_dead_processes_of_this_machine_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither those of a process that runs, nor those that another machine has in the same place, nor through a link."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = private_directory()
    command = [sys.executable, "-c", DIES, str(tmp_path), "anondb-tmp-"]
    dead = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    prefix, name, host, process, begun, rest = dead.name.split("-")
    elsewhere = tmp_path / "-".join((prefix, name, "0" * len(host), process, begun, rest))
    mine_before = mine.name.split("-")
    # a process of another time, whose number this one has now
    reused = tmp_path / "-".join((*mine_before[:4], f"{int(mine_before[4]) - 1}", "x"))
    linked = tmp_path / f"{dead.name}link"
    for made in (elsewhere, reused):
        made.mkdir()
    linked.symlink_to(elsewhere)
    assert stat.S_IMODE(mine.stat().st_mode) == 0o700 and dead.exists()
    sweep(tmp_path, "anondb-tmp-")
    assert sorted(tmp_path.iterdir()) == sorted([mine, elsewhere, linked])
    assert new_private(tmp_path, "other-").exists()
