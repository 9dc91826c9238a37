"""Digests of the catalogs of releases as DuckDB 2.0 stores them: most files are opened without making such a catalog.

A file whose catalog has the digests of its kind has the objects, texts and comments that anondb writes. Others are compared
text by text: releases with relational attributes, whose texts name these, and what other versions of DuckDB store in other
words. ``tests/release/test_known_catalogs.py`` computes the digests.
"""

from collections.abc import Mapping

from anondb.release.objects import ANATOMY, GLOBAL, LOCAL, Kind, with_item_supports

_DIGESTS: Mapping[Kind, tuple[str, str]] = {
    GLOBAL: (
        "6f0b924a731930251f1e19f3ecf1e2f9da14484a9a7983177157a42394fc66dd",
        "f13190f5669617346492b7707af39add1ee6bb13695be10678794e050d5b0a26",
    ),
    with_item_supports(GLOBAL): (
        "6675ca697d9e69569acaa70cc0150a48e7c60c32db8216729a68bc06927b0eb8",
        "c95207e15f673c941b3b2ed9e96e63501f7e928dc67378863a05c607f3d24e2f",
    ),
    LOCAL: (
        "230932fccad5103223c3c1008be0ad6afd08b6749c59ecc10280a4232f96efd9",
        "f13190f5669617346492b7707af39add1ee6bb13695be10678794e050d5b0a26",
    ),
    with_item_supports(LOCAL): (
        "13df5e8ab7cd40d870f0a5c290dd66e79ea9da2442a2e7e54682434817a2515e",
        "c95207e15f673c941b3b2ed9e96e63501f7e928dc67378863a05c607f3d24e2f",
    ),
    ANATOMY: (
        "ec6299850c995d311a05caba80cc3af904cb447938fd55cac7d814d83fb760d0",
        "0e9aabe6f15b67521611e6623b59842af375ed7a832546e6b71685057e23725a",
    ),
}


def known_digests(kind: Kind) -> tuple[str, str]:
    """The digests of the objects and of the columns of a kind; empty for kinds without stored digests."""
    return _DIGESTS.get(kind, ("", ""))
