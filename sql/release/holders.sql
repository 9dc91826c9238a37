-- reads: transactions(tid, item), items(item, label), numbered(tid, transaction_id), transaction_items(transaction_id, item_id), labels(item_id, item), released_items(released_item, item), supports(released_item, support)
-- params: none
-- returns: released_item, item, support, n
-- grain: released_item, item
-- How many transactions show each released item of a local recoding, and how many of them hold each of its members; n is 0 where
-- a released item stands for one item.
WITH several AS (
    SELECT released_item FROM released_items GROUP BY released_item HAVING count(*) > 1
),
members AS (
    SELECT items.item, labels.item_id, labels.item AS released_item, items.label
    FROM released_items
    JOIN several ON released_items.released_item = several.released_item
    JOIN labels ON released_items.released_item = labels.item
    JOIN items ON released_items.item = items.label
),
held AS (
    SELECT any_value(members.released_item) AS released_item, any_value(members.label) AS item, count(*) AS n
    FROM transactions
    JOIN members ON transactions.item = members.item
    JOIN numbered ON transactions.tid = numbered.tid
    JOIN transaction_items
        ON numbered.transaction_id = transaction_items.transaction_id AND members.item_id = transaction_items.item_id
    GROUP BY members.item_id, members.item
)
SELECT released_items.released_item, released_items.item, supports.support, coalesce(held.n, 0) AS n
FROM released_items
JOIN supports ON released_items.released_item = supports.released_item
LEFT JOIN held ON released_items.released_item = held.released_item AND released_items.item = held.item
