-- reads: content_items(content_id, released, copies), codes(released, label)
-- params: none
-- returns: transaction_id, item, copies
-- grain: transaction_id, item
-- The different transactions of a release as a table like that of all.
SELECT content_items.content_id AS transaction_id, codes.label AS item, content_items.copies
FROM content_items
JOIN codes ON content_items.released = codes.released
