-- reads: transactions(tid, item)
-- params: none
-- returns: a, b, together
-- grain: a, b
-- The number of transactions that hold both items, for all pairs that occur together; takes one pass over the data.
SELECT one.item AS a, other.item AS b, count(*) AS together
FROM transactions AS one
JOIN transactions AS other ON one.tid = other.tid AND one.item < other.item
GROUP BY one.item, other.item
ORDER BY a ASC, b ASC
