"""Digests of the catalogs of releases as DuckDB 2.0 stores them: most files are opened without making such a catalog.

A file whose catalog has the digests of its kind has the objects, texts and comments that anondb writes. Others are compared
text by text: releases with relational attributes, whose texts name these, and what other versions of DuckDB store in other
words. ``tests/release/test_known_catalogs.py`` computes the digests.
"""

from __future__ import annotations

from anondb.release.objects import ANATOMY, GLOBAL, LOCAL, Kind, with_item_supports

_KNOWN = (
    (
        GLOBAL,
        "eb5b948602cb855195cc475b3a7e658263193128349d5027219fd7a56b394f05",
        "f13190f5669617346492b7707af39add1ee6bb13695be10678794e050d5b0a26",
    ),
    (
        with_item_supports(GLOBAL),
        "c85203a6a9611132b142dd7516e004e176666432fa88d171c5d4519969677345",
        "c95207e15f673c941b3b2ed9e96e63501f7e928dc67378863a05c607f3d24e2f",
    ),
    (
        LOCAL,
        "92cd6ae655969b73a1890d1ce9f55abb3199a1cd794005bacdacc891e4e9471e",
        "f13190f5669617346492b7707af39add1ee6bb13695be10678794e050d5b0a26",
    ),
    (
        with_item_supports(LOCAL),
        "d121dafa6ff6e69f519b1ba5c54fbf291ddce1fb3154c5b61b1dfff9bf329117",
        "c95207e15f673c941b3b2ed9e96e63501f7e928dc67378863a05c607f3d24e2f",
    ),
    (
        ANATOMY,
        "019014e9b0fdf7b7b237828f563fc82d74237f270ae539e67610cf312f00aa92",
        "0e9aabe6f15b67521611e6623b59842af375ed7a832546e6b71685057e23725a",
    ),
)


def known_digests(kind: Kind) -> tuple[str, str]:
    """The digests of the objects and of the columns of a kind; empty if they are not known."""
    return next(((objects, columns) for known, objects, columns in _KNOWN if known == kind), ("", ""))
