-- reads: source(id, item), ids(tid, id), items(item, label)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The transactions as integers, each pair once (set semantics). Each id has one number, so that rows of one id, which the join
-- has brought together, need not be sent again to be compared.
SELECT tid, item
FROM (
    SELECT DISTINCT source.id, ids.tid, items.item
    FROM source
    JOIN items ON source.item = items.label
    JOIN ids ON source.id = ids.id
) AS pairs
