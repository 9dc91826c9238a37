-- reads: transactions(tid, item)
-- params: none
-- returns: first, second, transactions
-- grain: first, second
-- The number of transactions with each two items that occur together.
SELECT one.item AS first, other.item AS second, count(*) AS transactions
FROM transactions AS one
JOIN transactions AS other ON one.tid = other.tid AND one.item < other.item
GROUP BY one.item, other.item
ORDER BY one.item ASC, other.item ASC
