-- reads: transactions(tid, item)
-- params: min_support
-- returns: tid, item
-- grain: tid, item
-- The rows of the items that belong to a frequent pair: no other item can be in an association rule.
WITH frequent AS (
    SELECT item FROM transactions GROUP BY item HAVING count(*) >= getvariable('min_support')
),
kept AS (
    SELECT transactions.tid, transactions.item FROM transactions JOIN frequent ON transactions.item = frequent.item
),
pairs AS (
    SELECT one.item AS a, other.item AS b
    FROM kept AS one
    JOIN kept AS other ON one.tid = other.tid AND one.item < other.item
    GROUP BY one.item, other.item
    HAVING count(*) >= getvariable('min_support')
)
SELECT kept.tid, kept.item
FROM kept
WHERE kept.item IN (SELECT a FROM pairs UNION SELECT b FROM pairs)
ORDER BY kept.tid ASC, kept.item ASC
