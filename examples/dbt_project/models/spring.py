"""The released transactions: k^m-anonymity with k = 5 and m = 2, verified before they get here.

dbt holds a transaction on its own connection, so anondb works in a database of its own: a file, because it holds the
ledger, which knows what was published. In memory the ledger would be lost, and with it the refusal to publish the same
persons again. The table that comes back holds nothing but the release; with ``publish`` the release is sealed into a file
as well.
"""

import os

import anondb


def model(dbt, session):
    """A row for each transaction and released item."""
    dbt.config(materialized="table")
    baskets, food = dbt.ref("baskets").df(), dbt.ref("food").df()
    with anondb.connect(os.environ.get("ANONDB_LEDGER", "ledger.duckdb")) as owner:
        release = owner.anonymize(
            baskets,
            model=anondb.KmAnonymity(k=5, m=2),
            taxonomy=food,
            name="spring",
            publish=dbt.config.get("publish"),
            replace=True,
        )
        released = release.table("transactions").df()
    return released
