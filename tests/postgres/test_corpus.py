"""The rows of the files of the corpus as tables of PostgreSQL."""

from __future__ import annotations

import pytest
from files import naive
from files.making import FILE_OPTIONS, Case
from files.test_corpus import TABLES, check_sizes
from portions import parts
from postgres.databases import Databases

import anondb


@pytest.mark.parametrize("cases", parts(TABLES))
def test_the_rows_of_a_file_as_a_table(databases: Databases, cases: list[Case]) -> None:
    """In each layout a table gives the persons and items of the file."""
    with anondb.connect(databases.raw_url()) as database:
        for case in cases:
            options = {name: value for name, value in case.options.items() if name not in FILE_OPTIONS}
            read = {name: value for name, value in case.options.items() if name in FILE_OPTIONS}
            (table,) = naive.tables(case.source.read_bytes(), case.file, **read)
            if not all(table.columns):  # no table of PostgreSQL
                continue
            columns = ", ".join('"{}" text'.format(name.replace('"', '""')) for name in table.columns)
            databases.sql(f"DROP TABLE IF EXISTS held; CREATE TABLE held ({columns})")
            databases.copy("held", [tuple(row) for row in table.rows])
            check_sizes(database.profile("held", **case.columns, **options), case)
