-- reads: transaction_items(transaction_id, item_id, copies), labels(item_id, item), items(item, label)
-- params: none
-- returns: tid, item, copies
-- grain: row of transaction_items
-- The frozen rows as integers.
SELECT
    transaction_items.transaction_id AS tid,
    items.item,
    CAST(transaction_items.copies AS BIGINT) AS copies
FROM transaction_items
JOIN labels ON transaction_items.item_id = labels.item_id
JOIN items ON labels.item = items.label
