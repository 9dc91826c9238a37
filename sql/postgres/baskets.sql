-- reads: transaction_ids(transaction_id), transaction_items(transaction_id, item_id, copies), labels(item_id, item)
-- params: none
-- returns: transaction_id, items
-- grain: transaction_id
-- The view baskets: one row for each transaction, its released items in one list sorted by code point (labels are
-- numbered so), as often as there are copies, {} where there are none.
SELECT
    transaction_ids.transaction_id,
    coalesce(held.items, CAST(ARRAY[] AS TEXT[])) AS items
FROM transaction_ids
LEFT JOIN (
    SELECT transaction_items.transaction_id, array_agg(labels.item ORDER BY labels.item_id) AS items
    FROM transaction_items
    JOIN labels ON transaction_items.item_id = labels.item_id
    CROSS JOIN LATERAL generate_series(1, transaction_items.copies) AS one_copy
    GROUP BY transaction_items.transaction_id
) AS held ON transaction_ids.transaction_id = held.transaction_id
