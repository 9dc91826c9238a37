-- reads: manifest(key, value), released_items(released_item, item), transaction_ids(complete)
-- params: none
-- returns: is_local
-- grain: one row
-- Whether a release is read as one of a local recoding. Those of transactional k-anonymity are; so are those of relational
-- and transaction data where something was suppressed, since each cluster of records loses items of its own, even where all
-- of them lost some; so is any other in which several released items stand for one item, or in which not all transactions
-- are alike in what may be suppressed. Where a local recoding shows none of this, both readings are the same.
WITH told AS (
    SELECT
        max(value) FILTER (WHERE key = 'model') AS model,
        max(value) FILTER (WHERE key = 'suppression') AS suppression
    FROM manifest
)
SELECT
    coalesce(told.model, '') = 'k'
    OR (coalesce(told.model, '') IN ('kkm', 'klm') AND coalesce(told.suppression, '') <> 'none')
    OR coalesce((SELECT count(DISTINCT complete) FROM transaction_ids), 0) > 1
    OR EXISTS (SELECT 1 FROM released_items GROUP BY item HAVING count(*) > 1) AS is_local
FROM told
