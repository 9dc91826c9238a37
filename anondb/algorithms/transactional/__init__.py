"""Local recodings for transactional k-anonymity: Partition and Clump."""

from dataclasses import dataclass

from anondb.algorithms.method import Method, imported, option

_EMPTY = option(
    "absorb",
    "What to do with fewer than k transactions without items: absorb empties the shortest others until there are k.",
    choices=("absorb", "keep"),
)


@dataclass(frozen=True)
class PartitionOptions:
    """The options of Partition."""

    empty_transactions: str = _EMPTY
    leftover: str = option(
        "fill",
        "A leftover of fewer than k transactions: fill it with single ones, or add the whole smallest new group.",
        choices=("fill", "whole"),
    )


@dataclass(frozen=True)
class ClumpOptions:
    """The options of Clump."""

    candidates: int | None = option(None, "The number of clusters to evaluate for each transaction; all by default.")
    objective: str = option(
        "total", "What to minimize: the loss of the cluster, or its increase.", choices=("total", "increase")
    )
    empty_transactions: str = _EMPTY


PARTITION = Method(
    name="partition",
    paper="He and Naughton, VLDB 2009",
    models=("k",),
    run=imported("transactional.partition.partition"),
    options=PartitionOptions,
    needs=("taxonomy",),
    takes=("max_suppression",),
)
CLUMP = Method(
    name="clump",
    paper="Milani Fard and Wang, SECRYPT 2010",
    models=("k",),
    run=imported("transactional.clump.clump"),
    options=ClumpOptions,
    needs=("taxonomy",),
    takes=("max_suppression", "bag_input"),
)
