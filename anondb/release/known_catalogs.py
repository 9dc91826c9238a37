"""Digests of the catalogs of releases as DuckDB 2.0 stores them: most files are opened without making such a catalog.

A file whose catalog has the digests of its kind has the objects, texts and comments that anondb writes. Others are compared
text by text: releases with relational attributes, whose texts name these, and what other versions of DuckDB store in other
words. ``tests/release/test_known_catalogs.py`` computes the digests.
"""

from collections.abc import Mapping

from anondb.release.objects import ANATOMY, GLOBAL, LOCAL, Kind, with_item_supports

_DIGESTS: Mapping[Kind, tuple[str, str]] = {
    GLOBAL: (
        "a808f0d5e1d857eed75ecbe6a740a6840cf1b775a6dca49c46e526352361c9aa",
        "f13190f5669617346492b7707af39add1ee6bb13695be10678794e050d5b0a26",
    ),
    with_item_supports(GLOBAL): (
        "b53b5f7157de7ddcee136a1dbabd0fc850c26d7d5381e73020354ecbec121e81",
        "c95207e15f673c941b3b2ed9e96e63501f7e928dc67378863a05c607f3d24e2f",
    ),
    LOCAL: (
        "aa6712d9797286d9fa4f0bc88efed916432f5f8a7ac88af081fd126ec716a973",
        "f13190f5669617346492b7707af39add1ee6bb13695be10678794e050d5b0a26",
    ),
    with_item_supports(LOCAL): (
        "7ab1f79c4cd70624ac069ba8b3154db86089e7662448fb408af454bbb131a85f",
        "c95207e15f673c941b3b2ed9e96e63501f7e928dc67378863a05c607f3d24e2f",
    ),
    ANATOMY: (
        "019014e9b0fdf7b7b237828f563fc82d74237f270ae539e67610cf312f00aa92",
        "0e9aabe6f15b67521611e6623b59842af375ed7a832546e6b71685057e23725a",
    ),
}


def known_digests(kind: Kind) -> tuple[str, str]:
    """The digests of the objects and of the columns of a kind; empty for kinds without stored digests."""
    return _DIGESTS.get(kind, ("", ""))
