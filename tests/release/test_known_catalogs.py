"""The digests of known catalogs are those of the catalogs that anondb makes, and of no other."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest
from each import each

from anondb.release.catalog import Catalog, _reference, columns_digest, objects_digest
from anondb.release.definitions import ANY_RELEASE
from anondb.release.known_catalogs import known_digests
from anondb.release.objects import ANATOMY, GLOBAL, LOCAL, Kind, relational_kind, with_item_supports

KINDS = [GLOBAL, LOCAL, ANATOMY, with_item_supports(GLOBAL), with_item_supports(LOCAL)]
ENTRY = ("main", "view", "v")


@pytest.mark.slow
@pytest.mark.skipif(not duckdb.__version__.startswith("2.0"), reason="other versions may store other words")
@each("kind", KINDS)
def test_digests_are_those_of_the_catalogs_that_are_made(kind: Kind) -> None:
    objects, columns = _reference(kind)
    assert known_digests(kind) == (objects_digest(objects, ANY_RELEASE), columns_digest(columns))


def test_every_kind_has_digests_of_its_own() -> None:
    assert len({known_digests(kind)[0] for kind in KINDS}) == len(KINDS)
    assert known_digests(relational_kind([])) == ("", "")
    assert known_digests(replace(GLOBAL, macros={})) == ("", "")


@each(
    "other",
    [
        {ENTRY: ("SELECT 'b'", "said")},
        {ENTRY: ("SELECT 'a'", "other")},
        {ENTRY: ("SELECT 'a' 'a'", "said")},
        {ENTRY: ("SELECT 'bb'", "said")},
        {("main", "table", "v"): ("SELECT 'a'", "said")},
        {ENTRY: ("SELECT 'a'", "said"), ("main", "view", "w"): ("", "")},
        {},
    ],
)
def test_another_catalog_has_another_digest(other: Catalog) -> None:
    assert objects_digest({ENTRY: ("SELECT 'a'", "said")}, "a") != objects_digest(other, "a")


def test_only_the_release_id_may_differ() -> None:
    one = objects_digest({ENTRY: ("SELECT 'a' = 'a'", "said")}, "a")
    assert one == objects_digest({ENTRY: ("SELECT 'bc' = 'bc'", "said")}, "bc")
    assert one != objects_digest({ENTRY: ("SELECT 'a' = 'bc'", "said")}, "bc")
