-- reads: content_items(content_id, item, copies), items(item, label)
-- params: none
-- returns: transaction_id, item, copies
-- grain: transaction_id, item
-- The distinct transactions of a release, in the form of the view transactions.
SELECT content_items.content_id AS transaction_id, items.label AS item, content_items.copies
FROM content_items
JOIN items ON content_items.item = items.item
