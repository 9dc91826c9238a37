-- reads: transactions(transaction_id, item)
-- params: none
-- returns: item, support
-- grain: item
-- In how many transactions each released item is.
SELECT item, count(DISTINCT transaction_id) AS support FROM transactions GROUP BY item ORDER BY item ASC
