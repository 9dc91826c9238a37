-- reads: source(id, item), ids(tid, id), items(item, label)
-- params: none
-- returns: tid, item, copies
-- grain: tid, item
-- How often each transaction has each item (bag semantics), sorted.
SELECT ids.tid, items.item, CAST(count(*) AS INTEGER) AS copies
FROM source
JOIN ids ON source.id = ids.id
JOIN items ON source.item = items.label
GROUP BY ids.tid, items.item
ORDER BY 1 ASC, 2 ASC
