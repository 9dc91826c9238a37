"""Apriori anonymization (AA) and its local and vertical variants, LRA and VPA."""

from anondb.algorithms.method import Method, by_taxonomy

APRIORI = Method(
    name="apriori",
    paper="Terrovitis, Mamoulis and Kalnis, VLDB 2008",
    models=("km",),
    run=by_taxonomy("apriori.apriori"),
    needs=("taxonomy",),
)
_JOURNAL = "Terrovitis, Mamoulis and Kalnis, VLDB Journal 2011"
LRA = Method(name="lra", paper=_JOURNAL, models=("km",), run=by_taxonomy("apriori.lra"), needs=("taxonomy",))
VPA = Method(name="vpa", paper=_JOURNAL, models=("km",), run=by_taxonomy("apriori.vpa"), needs=("taxonomy",))
