-- reads: manifest(key, value), released_items(released_item, item), transaction_ids(complete)
-- params: none
-- returns: is_local
-- grain: one row
-- Whether readers treat a release as a local recoding: releases under transactional k-anonymity; releases of relational and
-- transaction data with suppression, since each cluster of records loses different items, even if all of them lost some; and
-- any other release in which several released items stand for one item, or ``complete`` differs between transactions. For a
-- local recoding with none of these properties, both interpretations are equal.
WITH told AS (
    SELECT
        max(value) FILTER (WHERE key = 'model') AS model,
        max(value) FILTER (WHERE key = 'suppression') AS suppression
    FROM manifest
)
SELECT
    coalesce(told.model, '') = 'k'
    OR (coalesce(told.model, '') IN ('kkm', 'klm') AND coalesce(told.suppression, '') <> 'none')
    OR coalesce((SELECT min(complete) <> max(complete) FROM transaction_ids), false)
    OR EXISTS (SELECT 1 FROM released_items GROUP BY item HAVING count(*) > 1) AS is_local
FROM told
