-- reads: source(tid, item), items(item, label)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The transactions as integers, each pair once (set semantics), sorted.
SELECT DISTINCT source.tid, items.item
FROM source
JOIN items ON source.item = items.label
ORDER BY 1, 2
