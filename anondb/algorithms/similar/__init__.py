"""Similar, an algorithm of anondb: groups of items with like pair counts, shown as themselves where that is safe."""

from dataclasses import dataclass

from anondb.algorithms.method import Method, imported, option


@dataclass(frozen=True)
class SimilarOptions:
    """The options of Similar."""

    open: bool = option(True, "Show items as themselves in the transactions where that is safe.")


SIMILAR = Method(
    name="similar",
    paper="anondb",
    models=("km",),
    run=imported("similar.similar.similar", lambda task: {"taxonomy": task.taxonomy, "open_rows": task.options.open}),
    options=SimilarOptions,
    takes=("taxonomy", "max_suppression"),
    releases="set",
    item_supports=True,
)
