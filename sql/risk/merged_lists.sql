-- reads: source(id, items)
-- params: none
-- returns: id, items
-- grain: id
-- One list for each id: the list of its only row (unchanged, also NULL), or the concatenated lists of its rows.
SELECT id, CASE WHEN count(*) = 1 THEN first(items) ELSE flatten(list(items)) END AS items
FROM source
GROUP BY id
