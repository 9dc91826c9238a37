-- reads: source(id, item), ids(tid, id)
-- params: none
-- returns: tid, item
-- grain: row of source
-- The rows of the source with the numbers of their transactions.
SELECT ids.tid, source.item
FROM source
JOIN ids ON source.id = ids.id
