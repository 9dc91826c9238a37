"""Every file of the corpus through ``load``, the command line, ``profile``, data frames and tables."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from cli.shop import Run
from each import each
from files import naive
from files.loading import Reader, check_refusal, flags, persons_of, words_of
from files.making import CASES, FILE_OPTIONS, Case
from portions import some

import anondb
from anondb.data.preflight import FINDINGS
from anondb.errors import InputError

READ = [case for case in CASES.values() if case.refused is None]
REFUSED = [case for case in CASES.values() if case.persons is None]
TABLES = [c for c in READ if c.made is None and not c.file.endswith((".json", ".ndjson", ".jsonl"))]
TABLES = [c for c in TABLES if c.layout not in ("basket", "spmf") and c.rows]


def named(case: Case) -> str:
    return case.name


def chosen(*names: str) -> list[Case]:
    return [CASES[name] for name in names]


def check_file(case: Case, reader: Reader, place: Path) -> None:
    place.mkdir()
    try:
        found = reader.load(case.path(place), **case.columns, **case.options)
    except InputError as error:
        check_refusal(words_of(error), case.refused, case.line)
    else:
        assert found == case.held


@pytest.mark.slow
@each("case", list(CASES.values())[::3])
def test_a_file_gives_its_persons_or_is_refused(case: Case, reader: Reader, tmp_path: Path) -> None:
    check_file(case, reader, tmp_path / case.name)


@pytest.mark.slow
@each("case", [case for number, case in enumerate(CASES.values()) if number % 3])
def test_another_file_gives_its_persons_or_is_refused(case: Case, reader: Reader, tmp_path: Path) -> None:
    check_file(case, reader, tmp_path / case.name)


BY_COMMAND = some(
    [*READ, *REFUSED],
    *chosen("columns_around", "movielens_ratings", "kaggle_domains", "online_retail", "no_quoting"),
    *chosen("two_exports_one_more_column", "online_retail_missing_ids"),
    check=(),
    ids=named,
)


@pytest.mark.parametrize("case", BY_COMMAND)
def test_the_command_loads_the_same_and_prints_the_account(case: Case, run: Run, tmp_path: Path) -> None:
    path, database = case.path(tmp_path), tmp_path / "owner.duckdb"
    words = ("load", database, "--transactions", path, "--as", "loaded", *flags(case.columns | case.options))
    done = run(*words, "--json")
    if case.persons is None:
        assert done.code == 2 and done.json["error"]["code"] and not database.exists()
        check_refusal(f"{done.json['error']['code']}: {done.err}", case.refused, case.line)
        return
    assert done.code == 0, done.err
    with duckdb.connect(str(database), read_only=True) as connection:
        assert persons_of(connection, "loaded") == case.held
    check_account(done.json["read"], case, path)


def check_account(read: dict[str, Any], case: Case, path: Path) -> None:
    """The account has the file's digest and size, and counts every row, person and item."""
    held = case.held or {}
    assert (read["sha256"], read["bytes"]) == (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)
    assert read["rows"] == case.rows and read["skipped"] == 0
    assert (read["transactions"], read["items"]) == (len(held), len(set().union(*held.values())))


ACCOUNTS = some(
    READ,
    *chosen("excel_german", "arules_basket", "fimi_empty_lines", "kaggle", "list_json", "spmf_named", "quoted_newlines"),
    *chosen("missing_ids_dropped", "no_header", "csv_gz", "parquet_lists"),
    ids=named,
)


@pytest.mark.parametrize("case", ACCOUNTS)
def test_the_account_of_a_profile(case: Case, reader: Reader, tmp_path: Path) -> None:
    path = case.path(tmp_path)
    profile = reader.database.profile(path, **case.columns, **case.options)
    check_account(profile.to_json()["read"], case, path)
    check_sizes(profile, case)


def check_sizes(profile: Any, case: Case) -> None:
    """The profile counts persons, those without items, items, and pairs of both."""
    held = case.held or {}
    assert (profile.persons, profile.empty) == (len(held), sum(not items for items in held.values()))
    assert profile.items == len(set().union(*held.values()))
    assert profile.occurrences == sum(map(len, held.values()))


EVERYWHERE = some(CASES.values(), *chosen("kaggle", "spmf_named", "two_exports_same_header", "booleans"), ids=named)
OTHERWISE = {"basket_header", "mushroom", "odd_names_quoted"}  # read otherwise if the owner does not say how


@pytest.mark.parametrize("case", EVERYWHERE)
def test_other_commands_and_statements_read_the_same(case: Case, tmp_path: Path) -> None:
    """Verification, a release of the file, one of its table in SQL, and what peek proposes."""
    path, how = case.path(tmp_path), {**case.columns, **case.options}
    with anondb.connect(tmp_path / "own.duckdb", threads=1) as database:
        model: dict[str, Any] = {"model": anondb.KmAnonymity(1, 1)}
        if case.held is None:
            for work in (database.verify, partial(database.anonymize, accept=FINDINGS)):
                with pytest.raises(InputError) as refused:
                    work(path, **model, **how)
                check_refusal(words_of(refused.value), case.refused, case.line)
            return
        sizes = (len(case.held), len(set().union(*case.held.values())))
        try:
            assert database.verify(path, **model, **how).verified
            made = database.anonymize(path, **model, **how, accept=FINDINGS, queries=0, name="file").report
            assert made is not None and (made.transactions, made.items) == sizes
            assert database.check_view("file").is_of_source
            database.load(path, transactions_as="loaded", **how)
            accept = ",".join(FINDINGS)
            options = f"k = 1, m = 1, queries = 0, accept = '{accept}', drop_missing_items = true"
            of_table = database.sql(f"CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM loaded WITH ({options})").report
            assert (of_table.transactions, of_table.items) == sizes
        except InputError as error:
            check_refusal(words_of(error), case.refused, case.line)
        peeked = database.peek(path)
        if peeked.problem is None and case.name not in OTHERWISE and case.refused is None:
            assert peeked.account is not None and peeked.account.rows == case.rows


AS_TABLES = some(TABLES, *chosen("kaggle", "list_json"), ids=named)


@pytest.mark.parametrize("case", AS_TABLES)
def test_the_rows_of_a_file_as_a_data_frame_and_as_a_table(case: Case, reader: Reader) -> None:
    data = case.source.read_bytes()
    (table,) = naive.tables(data, case.file, **{n: v for n, v in case.options.items() if n in FILE_OPTIONS})
    options = {n: v for n, v in case.options.items() if n not in FILE_OPTIONS}
    frame = pd.DataFrame(table.rows, columns=table.columns, dtype="string")
    check_sizes(reader.database.profile(frame, **case.columns, **options), case)
    reader.connection.register("frame", frame)
    reader.connection.execute("CREATE OR REPLACE TABLE held AS SELECT * FROM frame")
    reader.connection.unregister("frame")
    check_sizes(reader.database.profile("held", **case.columns, **options), case)
