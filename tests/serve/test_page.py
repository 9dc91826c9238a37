"""The dialogues of docs/tools.md with a server, held again."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs.pages import DOCS, blocks_of
from serve.conftest import PASSWORD, running

from anondb.demo import run_demo

DIALOGUES = [text for language, text in blocks_of(DOCS / "tools.md") if language == "console"]


def same(text: str) -> list[str]:
    """The lines of a text without blanks at the ends, and without estimates: each release has worlds of its own."""
    return [re.sub(r"\d+\.\d+", "0.0", line.rstrip()) for line in text.splitlines() if line.strip()]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
def test_the_dialogues(tmp_path: Path, password_file: Path) -> None:
    run_demo(tmp_path / "anondb-demo")
    file = tmp_path / "anondb-demo" / "spring_supports.duckdb"
    with running(file, "--password-file", str(password_file)) as server:
        port, environment = str(server.port), {**os.environ, "PGPASSWORD": PASSWORD}
        assert same("".join(server.said)) == same(DIALOGUES[0].partition("\n")[2].replace("5433", port))
        for dialogue in DIALOGUES[1:]:
            command, _, printed = dialogue.replace("5433", port).partition("\n")
            words, typed = shlex.split(command.removeprefix("$ ")), None
            if words == ["python"]:
                typed = "".join(f"{line[4:]}\n" for line in printed.splitlines() if line.startswith(">>> "))
                printed = "".join(line for line in printed.splitlines(True) if not line.startswith(">>> "))
                words = [sys.executable, "-iq"]
            done = subprocess.run(
                words, input=typed, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120
            )
            out = (done.stdout + done.stderr) if typed is None else done.stdout
            assert sorted(same(printed)) == sorted(same(out)), command
