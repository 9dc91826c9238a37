"""Pages and tables of results: written whole or not at all, and readable by their owner alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from anondb.compare.results import COLUMNS, write_csv
from anondb.errors import InputError
from anondb.pages.files import write_private


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
