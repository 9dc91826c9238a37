-- reads: transaction_ids(transaction_id), transaction_items(transaction_id, item_id, copies), labels(item_id, item), unhidden(passed)
-- params: none
-- returns: transaction_id, items
-- grain: transaction_id
-- The view baskets: one row for each transaction, its released items in one list sorted by code point (labels are
-- numbered so), as often as there are copies, [] where there are none.
SELECT
    transaction_ids.transaction_id,
    coalesce(held.items, CAST([] AS TEXT[])) AS items
FROM transaction_ids
LEFT JOIN (
    SELECT
        transaction_items.transaction_id,
        flatten(list(list_resize(CAST([] AS TEXT[]), transaction_items.copies, labels.item) ORDER BY labels.item_id ASC)) AS items
    FROM transaction_items
    JOIN labels ON transaction_items.item_id = labels.item_id
    GROUP BY transaction_items.transaction_id
) AS held ON transaction_ids.transaction_id = held.transaction_id
CROSS JOIN unhidden
WHERE unhidden.passed
