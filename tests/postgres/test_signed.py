"""A signed release in PostgreSQL: the trusted key opens it, and what somebody changed there is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from portions import some
from postgres.databases import Databases
from release.signed import opens, opens_at_all, ways

import anondb
from anondb.release.signing import new_keys
from anondb.warehouse.postgres.local import inspect_release

CHANGES = {
    "a row less": "DELETE FROM signed.transaction_items WHERE transaction_id = 7",
    "a smaller k": "UPDATE signed.manifest SET value = '2' WHERE key = 'k'",
    "another name": "UPDATE signed.manifest SET value = 'patients' WHERE key = 'table'",
    "another signature": "UPDATE signed.manifest SET value = reverse(value) WHERE key = 'signature'",
    "two signatures": "INSERT INTO signed.manifest SELECT key, value || '0' FROM signed.manifest WHERE key = 'signature'",
    "no signature": "DELETE FROM signed.manifest WHERE key = 'signature'",
    "a table more": "CREATE TABLE signed.notes (note text)",
    "another view": "CREATE OR REPLACE VIEW signed.transactions AS SELECT transaction_id, 'x'::text COLLATE \"C\" AS item,"
    " copies FROM signed.transaction_items",
}


@pytest.fixture(scope="module")
def key(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("keys")
    _, _, text = new_keys(place / "publisher")
    with anondb.connect(databases.raw_url()) as db:
        options = {"taxonomy": "shop.food", "name": "signed", "queries": 0, "sign": place / "publisher.key"}
        db.anonymize("shop.sales", publish=databases.url("signed"), **options)  # type: ignore[arg-type]
    return text


@pytest.mark.slow
def test_the_trusted_key_opens_it(databases: Databases, key: str, tmp_path: Path) -> None:
    url = databases.url("signed")
    assert anondb.verify_file(url, trusted=key).signed_by == key and inspect_release(url, key).clean
    assert all(opens(ways(url, key)[way]) for way in ("open", "dbapi", "query"))
    assert not opens(ways(url, new_keys(tmp_path / "other")[2])["open"])


@pytest.mark.slow
def test_no_other_key_opens_it(databases: Databases, key: str, tmp_path: Path) -> None:
    other = new_keys(tmp_path / "other")[2]
    assert not any(opens(way) for way in ways(databases.url("signed"), other).values())


@pytest.mark.slow
@pytest.mark.parametrize("what", some(CHANGES, "a row less", check=()))
def test_what_somebody_changed_is_refused(databases: Databases, key: str, what: str) -> None:
    name = f"{databases.releases}_forged"
    databases.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", "postgres")
    databases.sql(f"CREATE DATABASE {name} TEMPLATE {databases.releases}", "postgres")
    databases.sql(CHANGES[what], name)
    assert not opens_at_all(databases.server.url(name, "signed"), key)
