-- reads: transactions(tid, item)
-- params: place
-- returns: together
-- grain: one row, or none
-- The support of the pair of items at a place of the order by support, with the largest at place 0.
SELECT together
FROM (
    SELECT count(*) AS together
    FROM transactions AS one
    JOIN transactions AS other ON one.tid = other.tid AND one.item < other.item
    GROUP BY one.item, other.item
) AS pairs
ORDER BY together DESC
LIMIT 1 OFFSET getvariable('place')
