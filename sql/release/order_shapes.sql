-- reads: transaction_ids(transaction_id), transactions(transaction_id, item)
-- params: none
-- returns: transaction_id, length, first_item, last_item, item_sum
-- grain: transaction_id
-- Numbers that describe the items of each transaction, in the order of the ids; NULL for an empty transaction.
WITH places AS (
    SELECT item, row_number() OVER (ORDER BY item ASC) AS place FROM (SELECT DISTINCT item FROM transactions) AS labels
)
SELECT
    transaction_ids.transaction_id,
    count(places.place) AS length,
    min(places.place) AS first_item,
    max(places.place) AS last_item,
    CAST(sum(places.place) AS BIGINT) AS item_sum
FROM transaction_ids
LEFT JOIN transactions ON transaction_ids.transaction_id = transactions.transaction_id
LEFT JOIN places ON transactions.item = places.item
GROUP BY transaction_ids.transaction_id
ORDER BY transaction_ids.transaction_id ASC
