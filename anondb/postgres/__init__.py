"""PostgreSQL: raw data come by ADBC, DuckDB does the work here, and releases are written back in one transaction."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from anondb.engine.elsewhere import is_url

if TYPE_CHECKING:
    from anondb.postgres.place import Place


@contextlib.contextmanager
def at_hand(
    source: str | os.PathLike[str] | Place,
    on_statement: Callable[[str], None] | None = None,
    memory_limit: str | None = None,
) -> Iterator[str | os.PathLike[str]]:
    """The path of a sealed file; for a folder of Parquet files, or a release in PostgreSQL, that of a private file with its
    rows, which is made within the memory limit.

    Raises:
        InputError: ``no_such_release``; ``not_a_release``: the schema holds other objects, or other views and functions
            than anondb's.
    """
    if isinstance(source, str | os.PathLike) and not is_url(source):
        if os.path.isdir(source):
            from anondb.release.parquet import as_file

            with as_file(source, memory_limit) as file:
                yield file
            return
        yield source
        return
    from anondb.postgres.local import fetched_file

    with fetched_file(source, on_statement) as file:
        yield file
