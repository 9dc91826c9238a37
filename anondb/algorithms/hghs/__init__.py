"""HgHs and mHgHs: heuristic generalization with heuristic suppression."""

from anondb.algorithms.method import Method, imported

HGHS = Method(
    name="hghs",
    paper="Liu and Wang, PAKDD 2010, section 3",
    models=("km",),
    run=imported("hghs.hghs.hghs"),
    needs=("taxonomy",),
    takes=("max_suppression",),
)
MHGHS = Method(
    name="mhghs",
    paper="Liu and Wang, PAKDD 2010, section 4.2",
    models=("km",),
    run=imported("hghs.mhghs.mhghs"),
    needs=("taxonomy",),
    takes=("max_suppression",),
)
