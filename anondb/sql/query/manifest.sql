-- reads: manifest(key, value), released_items(item)
-- params: none
-- returns: key, value
-- grain: key
-- The manifest, and under a key without a name how many original items too often several released items stand for: 0 in
-- a global recoding.
SELECT manifest.key, manifest.value FROM manifest
UNION ALL
SELECT '' AS key, CAST(count(*) - count(DISTINCT released_items.item) AS TEXT) AS value FROM released_items
