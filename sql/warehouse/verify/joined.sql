-- reads: occurrences(tid, itemset, prefix, item)
-- params: low, high, most
-- returns: itemset, item, support
-- grain: itemset, item
-- Support of every union of two frequent itemsets that occur in a transaction and differ only in their last item, if it
-- is at most the limit; for a range of prefixes.
SELECT a.itemset, b.item, count(*) AS support
FROM occurrences AS a
JOIN occurrences AS b ON a.tid = b.tid AND a.prefix = b.prefix AND a.item < b.item
WHERE
    a.prefix BETWEEN getvariable('low') AND getvariable('high')
    AND b.prefix BETWEEN getvariable('low') AND getvariable('high')
GROUP BY a.itemset, b.item
HAVING count(*) <= getvariable('most')
