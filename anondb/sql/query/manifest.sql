-- reads: manifest(key, value), released_items(item), transaction_ids(complete)
-- params: none
-- returns: key, value
-- grain: key
-- The manifest, and under a key without a name whether the rows show a local recoding: how many original items too often
-- several released items stand for, or transactions that differ in what may be suppressed; 0 in a global recoding.
SELECT manifest.key, manifest.value FROM manifest
UNION ALL
SELECT
    '' AS key,
    CAST(
        count(*) - count(DISTINCT released_items.item)
        + (SELECT CASE WHEN count(DISTINCT transaction_ids.complete) > 1 THEN 1 ELSE 0 END FROM transaction_ids) AS TEXT
    ) AS value
FROM released_items
