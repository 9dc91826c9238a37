"""HgHs and mHgHs: heuristic generalization with heuristic suppression."""

from anondb.algorithms.method import Method, by_taxonomy

HGHS = Method(
    name="hghs",
    paper="Liu and Wang, PAKDD 2010, section 3",
    models=("km",),
    run=by_taxonomy("hghs.hghs"),
    needs=("taxonomy",),
    takes=("max_suppression",),
)
MHGHS = Method(
    name="mhghs",
    paper="Liu and Wang, PAKDD 2010, section 4.2",
    models=("km",),
    run=by_taxonomy("hghs.mhghs"),
    needs=("taxonomy",),
    takes=("max_suppression",),
)
