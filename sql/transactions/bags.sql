-- reads: source(tid, item), items(item, label)
-- params: none
-- returns: tid, item, copies
-- grain: tid, item
-- The number of copies of each item in each transaction (bag semantics), sorted.
SELECT source.tid, items.item, CAST(count(*) AS INTEGER) AS copies
FROM source
JOIN items ON source.item = items.label
GROUP BY source.tid, items.item
ORDER BY 1 ASC, 2 ASC
