"""A signed release in each form, what a forger does to it, and every way of opening one."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
import sqlalchemy

import anondb
from anondb import dbapi
from anondb.cli import main
from anondb.engine.untrusted import locked_engine
from anondb.errors import AnondbError
from anondb.release.catalog import sealed_catalog
from anondb.release.digest import content_digest
from anondb.release.objects import SchemaName
from anondb.release.signing import Signer
from anondb.serve import server
from anondb.ui import ask
from anondb.ui.audit import auditing

QUESTION = "SELECT count(DISTINCT tid) FROM sales WHERE item = 'i1'"
HERE = SchemaName("release", "main")

_NUMBERED = (
    "(SELECT min(transaction_id) FROM (SELECT transaction_id FROM transaction_items GROUP BY ALL HAVING count(*) = {}))"
)
ALONE, BOTH = _NUMBERED.format(1), _NUMBERED.format(2)  # transactions with one item, and with two

# What somebody does to the rows of a signed release, which is a release still.
CHANGED_ROWS = {
    "an item less": f"DELETE FROM transaction_items WHERE transaction_id = {ALONE}",
    "an item more": f"INSERT INTO transaction_items SELECT {ALONE}, item_id, 1 FROM labels WHERE item_id NOT IN"
    f" (SELECT item_id FROM transaction_items WHERE transaction_id = {ALONE})",
    "another item": f"UPDATE transaction_items SET item_id = 3 - item_id WHERE transaction_id = {ALONE}",
    "persons exchanged": f"UPDATE transaction_items SET transaction_id = {BOTH} + {ALONE} - transaction_id"
    f" WHERE transaction_id IN ({ALONE}, {BOTH})",
    "two copies": f"UPDATE transaction_items SET copies = 2 WHERE transaction_id = {ALONE}",
    "labels exchanged": "UPDATE labels SET item = CASE item_id WHEN 1 THEN 'B' ELSE 'A' END WHERE item_id < 3",
    "another label": "UPDATE labels SET item = item || ' ' WHERE item_id = 1",
    "an item that stands for another": "UPDATE released_items SET item = 'i' || item WHERE item = 'i1'",
    "an item more that is stood for": "INSERT INTO released_items SELECT released_item, 'more' FROM released_items LIMIT 1",
    "incomplete transactions": "UPDATE transaction_ids SET complete = NOT complete",
    "a number more": "INSERT INTO transaction_ids SELECT max(transaction_id) + 1, true FROM transaction_ids",
    "a larger k": "UPDATE manifest SET value = '50' WHERE key = 'k'",
    "a smaller k": "UPDATE manifest SET value = '2' WHERE key = 'k'",
    "another m": "UPDATE manifest SET value = 'inf' WHERE key = 'm'",
    "more transactions": "UPDATE manifest SET value = '91' WHERE key = 'transactions'",
    "no suppression, or some": "UPDATE manifest SET value = CASE value WHEN 'none' THEN 'some' ELSE 'none' END"
    " WHERE key = 'suppression'",
    "another version": "UPDATE manifest SET value = '9.9.9' WHERE key = 'version'",
    "another name of the table": "UPDATE manifest SET value = 'patients' WHERE key = 'table'",
    "a part of a whole": "INSERT INTO manifest VALUES ('partition', '{\"week\": \"1\"}')",
    "one more key": "INSERT INTO manifest VALUES ('note', 'audited')",
    "a bound of an item": "UPDATE item_supports SET at_most = at_most + 1",
    "a weight": "UPDATE item_supports SET weight = weight / 2 + 0.25",
    "no item supports": "DELETE FROM item_supports",
    "a part of the signature": "UPDATE manifest SET value = value[:-3] WHERE key = 'signature'",
    "another signature": "UPDATE manifest SET value = value[:-2] || CASE value[-1:] WHEN '0' THEN '11' ELSE '00' END"
    " WHERE key = 'signature'",
    "a signature in capitals": "UPDATE manifest SET value = upper(value) WHERE key = 'signature'",
    "an empty signature": "UPDATE manifest SET value = '' WHERE key = 'signature'",
    "two signatures": "INSERT INTO manifest SELECT 'signature', value || '0' FROM manifest WHERE key = 'signature'",
    "no signature": "DELETE FROM manifest WHERE key = 'signature'",
}
# What makes it no release.
CHANGED_OBJECTS = {
    "a view": "CREATE OR REPLACE VIEW transactions AS SELECT transaction_id, 'x' AS item, copies FROM transaction_items",
    "a macro": "CREATE OR REPLACE MACRO count_bounds(items) AS TABLE SELECT 0::BIGINT AS lower_bound",
    "a scalar macro of the same name": "CREATE MACRO count_bounds(items) AS 0",
    "a table more": "CREATE TABLE notes AS SELECT 'audited' AS note",
    "a table less": "DROP TABLE item_supports",
    "a comment on a column": "COMMENT ON COLUMN labels.item IS 'audited'",
    "a type more": "CREATE TYPE notes AS ENUM ('audited')",
    "a trap for functions": "CREATE MACRO list_sort(x) AS x",
    "a schema more": "CREATE SCHEMA notes",
    "a comment": "COMMENT ON TABLE labels IS 'audited'",
    "a default": "ALTER TABLE labels ALTER item SET DEFAULT 'x'",
}


def signed_again(file: Path, key: Path, changes: str) -> None:
    """Change the rows of a file, and sign what it holds then with another key."""
    with duckdb.connect(str(file)) as writer:
        writer.execute(f"DELETE FROM manifest WHERE key = 'signature'; {changes}")
    reader = locked_engine(file)
    try:
        catalog = sealed_catalog(reader, HERE)
        assert catalog.kind is not None
        signature = Signer.read(key).sign(catalog.manifest, content_digest(reader, HERE, catalog.kind))
    finally:
        reader.close()
    with duckdb.connect(str(file)) as writer:
        writer.execute("INSERT INTO manifest VALUES ('signature', ?)", [signature])


def said(words: list[str]) -> int:
    """The exit code of a command."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["anondb", *words])
        patch.setattr(server, "serve", lambda *_: None)
        with pytest.raises(SystemExit) as done:
            main()
    return int(str(done.value.code))


def ways(place: str, trusted: str | Path | None) -> dict[str, Callable[[], object]]:
    """Every way of opening a release; with ``trusted`` None, the key is that of ANONDB_TRUSTED."""
    more = [] if trusted is None else ["--trusted", str(trusted)]
    named = None if trusted is None else str(trusted)
    calls: dict[str, Callable[[], object]] = {
        "verify_file": lambda: anondb.verify_file(place, trusted=trusted),
        "open": lambda: anondb.open(place, trusted=trusted).close(),
        "open, in a list": lambda: anondb.open([place], trusted=trusted).close(),
        "dbapi": lambda: dbapi.connect(place, trusted=named).close(),
        "verify": lambda: said(["verify", place, *more]),
        "inspect": lambda: said(["inspect", place, *more]),
        "query": lambda: said(["query", place, QUESTION, *more]),
        "query of a session": lambda: said(["query", place, "SELECT * FROM item_counts", *more]),
        "sqlalchemy": lambda: by_sqlalchemy(place, named),
        "serve": lambda: said(["serve", place, "--port", "0", *more]),
        "the window asks": lambda: asked_in_the_window(place, named),
        "the window audits": lambda: auditing(lambda *_: None, place, None, named),
    }
    if place.endswith(".duckdb"):
        calls["open_release"] = lambda: anondb.open_release(place, trusted=trusted).close()
        script = str(Path(place).with_name("script.sql"))
        Path(script).write_text("SELECT 1;", "utf-8")
        calls["run"] = lambda: said(["run", place, script, *more])
    return calls


def by_sqlalchemy(place: str, trusted: str | None) -> None:
    url = sqlalchemy.URL.create("anondb", database=place, query={} if trusted is None else {"trusted": trusted})
    engine = sqlalchemy.create_engine(url)
    try:
        engine.connect().close()
    except sqlalchemy.exc.DBAPIError as error:
        raise error.orig or error from None
    finally:
        engine.dispose()


def asked_in_the_window(place: str, trusted: str | None) -> None:
    try:
        ask.opening(lambda *_: None, place, trusted)
    finally:
        if ask._KEPT:
            ask._KEPT.pop("session").close()
            ask._KEPT.clear()


def opens_at_all(place: str | Path, trusted: str) -> bool:
    """Whether a release is opened by reading, or by checking it; that all ways agree is a test of its own."""
    calls = ways(str(place), trusted)
    return any(opens(calls[name]) for name in ("open", "verify_file"))


def opens(way: Callable[[], object]) -> bool:
    """Whether a way of opening does not refuse a release."""
    try:
        return way() not in (2, 4)
    except (AnondbError, dbapi.Error):
        return False


def copied(place: Path, to: Path) -> Path:
    """A copy of a file or a folder."""
    return Path(shutil.copytree(place, to) if place.is_dir() else shutil.copy(place, to))
