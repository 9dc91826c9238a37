-- reads: transactions(tid, item)
-- params: low, high, most
-- returns: itemset, item, support
-- grain: itemset, item
-- Support of all pairs whose smaller item lies in a range, if it is at most the limit.
SELECT a.item AS itemset, b.item, count(*) AS support
FROM transactions AS a
JOIN transactions AS b ON a.tid = b.tid AND a.item < b.item
WHERE a.item BETWEEN getvariable('low') AND getvariable('high')
GROUP BY a.item, b.item
HAVING count(*) <= getvariable('most')
