"""The page of the proof pack: what its SQL shows, and what it does not."""

from __future__ import annotations

from collections.abc import Mapping

CLAIMS: Mapping[str, str] = {
    "km": """\
* **Needs only the release**: whoever knows up to m items of a person finds at least k transactions that fit, or none.
  `verify_km.sql` looks at every combination of up to m released items that occurs, and returns those that occur in fewer
  than k transactions.
* **Needs the taxonomy** (or the owner's groups of items): that a released item stands for the right items. The release
  says what it stands for (`released_items`), and a node of a taxonomy can be compared with that.
""",
    "k": """\
* **Needs only the release**: every published transaction equals at least k - 1 others. `verify_k.sql` compares whole
  transactions, empty ones and the copies of items included, and returns the classes that are too small.
* **Needs the taxonomy**: that a released item stands for the right items (`released_items` says what it stands for).
""",
    "constraints": """\
* **Needs only the release**: constraints of Pgen, which are transactions of the source and never leave the house. They hold
  if every published transaction is contained in at least k transactions, which `verify_constraints.sql` then looks at.
* **Needs the constraints**: those that the owner wrote. They are in `verify_constraints.sql` only if the owner let them out.
""",
    "hkp": """\
* **Needs the list of private items**, which is in `verify_hkp.sql`: whoever knows up to p public items of a person finds at
  least k transactions that fit, and no private item is in more than the share h of them.
""",
    "kkm": """\
* **Needs only the release**: whoever knows all relational values of a person and up to m nonsensitive items finds at least
  k records that fit, or none. `verify_kkm.sql` compares the rows of `records`, and looks in each class of equal ones at its
  size and at every combination of up to m items that occurs. Sensitive items are those that the release's manifest names.
* **Needs the list of sensitive items**: that the manifest names those and no others. The promise takes sensitive items to
  be unknown to attackers.
* **Needs the taxonomy and the hierarchies**: that released items and values stand for the right ones (`released_items` and
  `released_values` say what they stand for).
""",
    "klm": """\
* **Needs only the release**: whoever knows all relational values of a person and up to m nonsensitive items finds at least
  k records that fit, or none; and at most one in l of those that fit holds any one sensitive item. `verify_klm.sql` looks in
  each class of equal records at its size and at every combination of up to m nonsensitive items that occurs, the empty one
  included. Sensitive items are those that the release's manifest names.
* **Needs the list of sensitive items**: that the manifest names those and no others.
* **Needs the taxonomy and the hierarchies**: that released items and values stand for the right ones (`released_items` and
  `released_values` say what they stand for).
""",
    "anatomy": """\
* **Needs only the release**: in each bucket and column at most one in l of the transactions has the same value, which is a
  set of items; each column has one value for each transaction of its bucket, each item is in one column, and there are as
  many columns and transactions as the release says. `verify_anatomy.sql` returns what is otherwise. With `empty_values` =
  ignore the empty value may be as frequent as it likes: that somebody has no item of a column is then not protected.
* **Needs the original data**: that the values are those of the original, each transaction's in one bucket.
""",
}

PAGE_TEXT = """\
# Checking a sealed release without anondb

`verify_{model}.sql` is plain DuckDB SQL. It reads the sealed file and returns the violations of the promise: **no row
means that the promise holds**. The last line is PASS, or an error that says FAIL, and then the shell ends with an exit code
that is not 0. A row "this is another release" means that script and file do not belong together.

    duckdb -readonly RELEASE.duckdb < verify_{model}.sql

The file was made by {model} with {parameters}, and its release_id is `{release_id}`.

## Is it the file that was published?

Rows that were changed, and written anew so that the promise still holds, cannot be told from the file alone. Compare it
with what its publisher says, over another way than the file came:

    {sha256}   SHA-256 of the file (sha256sum RELEASE.duckdb)
    {content_digest}   its content

`anondb verify RELEASE.duckdb --expect DIGEST` compares either. A copy made by DuckDB has another SHA-256, and the same
content.

## What is shown, and from what

{claims}
## What is not shown

* **Truthfulness**: that each published transaction is the image of an original one. Only the owner can check this.
* **Coverage**: that every person of the source is in the release, and that nobody was added.
* What the promise does not promise: sensitive facts that all k candidates share, knowledge of absence, and two releases
  of the same persons that are joined. See docs/promise.md of anondb.
"""
