-- reads: source(id, item), ids(tid, id), items(item, label)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The transactions as integers, each pair once (set semantics).
SELECT DISTINCT ids.tid, items.item
FROM source
JOIN ids ON source.id = ids.id
JOIN items ON source.item = items.label
