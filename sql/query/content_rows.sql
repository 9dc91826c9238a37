-- reads: content_items(content_id, item, copies), items(item, label)
-- params: none
-- returns: transaction_id, item, copies
-- grain: transaction_id, item
-- The different transactions of a release as a table like that of all.
SELECT content_items.content_id AS transaction_id, items.label AS item, content_items.copies
FROM content_items
JOIN items ON content_items.item = items.item
