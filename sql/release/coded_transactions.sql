-- reads: transaction_items(transaction_id, item_id, copies), labels(item_id, item), items(item, label)
-- params: none
-- returns: tid, item, copies
-- grain: tid, item
-- The frozen rows as integers, each pair once (a repeated row does not count as another person, but its copies add up).
SELECT
    transaction_items.transaction_id AS tid,
    items.item,
    CAST(sum(transaction_items.copies) AS BIGINT) AS copies
FROM transaction_items
JOIN labels ON transaction_items.item_id = labels.item_id
JOIN items ON labels.item = items.label
GROUP BY transaction_items.transaction_id, items.item
