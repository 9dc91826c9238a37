"""l-diverse anatomy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.models.anatomy import Anatomy
from anondb.promises.spec import ModelSpec, Subject, proof_named

if TYPE_CHECKING:
    from anondb.verify import Verification


def _verify(subject: Subject, model: Anatomy, witnesses: int) -> Verification:
    from anondb.release.objects import read_manifest
    from anondb.verify.anatomy import Original, verify_anatomy

    data, schema = subject.knowledge.original, subject.schema
    original = None if data is None else Original(data.transactions, data.items, data.n_transactions)
    number = None if schema is None else int(read_manifest(subject.engine, schema)["transactions"])
    return verify_anatomy(subject.engine, subject.transactions, model, original, number=number, witnesses=witnesses)


def _remarks(model: Anatomy) -> tuple[str, ...]:
    nothing = "l = 1 promises nothing: a column of a bucket may hold a single value."
    ignored = "Empty values are ignored: the absence of items of a column may be inferred with a probability above 1/l."
    return (*([nothing] if model.l == 1 else []), *([ignored] if model.empty_values == "ignore" else []))


ANATOMY = ModelSpec(
    model=Anatomy,
    verify=_verify,
    proof=proof_named("anatomy"),
    remarks=_remarks,
    claims="""\
* **Needs only the release**: in each bucket and column at most one in l of the transactions has the same value, which is a
  set of items; each column has one value for each transaction of its bucket, each item is in one column, and the numbers
  of columns and transactions are those of the manifest. `verify_anatomy.sql` returns every exception. With `empty_values`
  = ignore, the frequency of the empty value has no limit: the absence of items of a column is then not protected.
* **Needs the original data**: the values are those of the original, and each transaction's values are in one bucket.
""",
    covered=(
        "An attacker who knows in which bucket a person is links the person to a value of a column with a probability of at "
        "most one in {l}. A value is the set of items that a transaction has in the column."
    ),
    uncovered=(
        "Items are published unchanged: an attacker who knows one rare item may find its bucket and the other "
        "items of its column. Correlation across columns, values that are frequent everywhere, and presence "
        "in the data are not covered."
    ),
    no_item_supports="it publishes the original items already",
)
