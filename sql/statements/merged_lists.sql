-- reads: source(id, items)
-- params: none
-- returns: id, items
-- grain: id
-- One list for each id: as it is, NULL included, where the id has one row; else the lists of all of its rows in one.
SELECT id, CASE WHEN count(*) = 1 THEN first(items) ELSE flatten(list(items)) END AS items
FROM source
GROUP BY id
