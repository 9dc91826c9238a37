-- reads: transactions(tid, item), items(item, label), numbered(tid, transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item)
-- params: none
-- returns: released_item, item, n
-- grain: released_item, item
-- How many transactions of a local recoding show a released item that stands for two or more items, and hold one of these items.
-- Items that no such transaction holds have no row.
WITH several AS (
    SELECT released_item FROM released_items GROUP BY released_item HAVING count(*) > 1
),
members AS (
    SELECT items.item, labels.item_id, labels.item AS released_item, items.label
    FROM released_items
    JOIN several ON released_items.released_item = several.released_item
    JOIN labels ON released_items.released_item = labels.item
    JOIN items ON released_items.item = items.label
)
SELECT any_value(members.released_item) AS released_item, any_value(members.label) AS item, count(*) AS n
FROM transactions
JOIN members ON transactions.item = members.item
JOIN numbered ON transactions.tid = numbered.tid
JOIN transaction_items
    ON numbered.transaction_id = transaction_items.transaction_id AND members.item_id = transaction_items.item_id
GROUP BY members.item_id, members.item
