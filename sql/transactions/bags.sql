-- reads: source(tid, item), items(item, label)
-- params: none
-- returns: tid, item, copies
-- grain: tid, item
-- How often each transaction has each item (bag semantics), sorted.
SELECT source.tid, items.item, CAST(count(*) AS INTEGER) AS copies
FROM source
JOIN items ON source.item = items.label
GROUP BY source.tid, items.item
ORDER BY 1 ASC, 2 ASC
