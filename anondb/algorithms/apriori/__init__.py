"""Apriori anonymization (AA) and its local and vertical variants, LRA and VPA."""

from anondb.algorithms.method import Method, imported

APRIORI = Method(
    name="apriori",
    paper="Terrovitis, Mamoulis and Kalnis, VLDB 2008",
    models=("km",),
    run=imported("apriori.apriori.apriori"),
    needs=("taxonomy",),
)
_JOURNAL = "Terrovitis, Mamoulis and Kalnis, VLDB Journal 2011"
LRA = Method(name="lra", paper=_JOURNAL, models=("km",), run=imported("apriori.lra.lra"), needs=("taxonomy",))
VPA = Method(name="vpa", paper=_JOURNAL, models=("km",), run=imported("apriori.vpa.vpa"), needs=("taxonomy",))
