-- reads: transactions(tid, item)
-- params: k, first_from, first_to
-- returns: n1, n2, support
-- grain: n1, n2
-- The violated constraints among the pairs of items whose first item lies in a range: pairs that at least one and fewer
-- than k transactions hold.
SELECT a.item AS n1, b.item AS n2, CAST(count(*) AS INTEGER) AS support
FROM transactions AS a
JOIN transactions AS b ON a.tid = b.tid AND a.item < b.item
WHERE a.item BETWEEN getvariable('first_from') AND getvariable('first_to')
GROUP BY a.item, b.item
HAVING count(*) < getvariable('k')
