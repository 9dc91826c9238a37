"""The script of the clean process: it creates one database file by the statements of its job, and ends.

It runs alone (``python -I -S clean_writer.py PACKAGES``), imports nothing of anondb and never reads raw data, so the gaps
in the file's blocks can only contain released data. PACKAGES is the directory that DuckDB is imported from. The job
comes as JSON on stdin once the rows are ready, so the start-up costs no time; the answer is JSON on stdout, with the type
of an error instead of its text.
"""

import json
import os
import sys


def main() -> None:
    """Read a job, run it, answer."""
    os.umask(0o077)
    sys.path.append(sys.argv[1])
    try:
        import _duckdb as duckdb  # without the package around it, whose imports take three times as long
    except ImportError:
        import duckdb  # type: ignore[no-redef]
    job = json.loads(sys.stdin.buffer.read())
    try:
        connection = duckdb.connect(job["file"], config=job["config"])
        for statement in job["statements"]:
            connection.execute(statement).fetchall()
        connection.close()
    except duckdb.Error as error:
        text = str(error)
        full = any(words in text for words in ("No space left", "quota exceeded", "File too large"))
        answer = {"error": type(error).__name__, "disk_full": full}
    else:
        answer = {"error": None, "disk_full": False}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # the file is closed; an ordinary exit of Python would take longer than some of the work


if __name__ == "__main__":
    main()
