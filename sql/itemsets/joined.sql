-- reads: occurrences(tid, prefix, member, itemset)
-- params: first_from, first_to
-- returns: tid, first_set, second_set
-- grain: tid, first_set, second_set
-- Occurrences of candidates: two itemsets in one transaction that differ only in their last items, the smaller one first.
-- Together they stand for their union.
SELECT a.tid, a.itemset AS first_set, b.itemset AS second_set
FROM occurrences AS a
JOIN occurrences AS b ON a.tid = b.tid AND a.prefix = b.prefix AND b.member > a.member
WHERE a.itemset BETWEEN getvariable('first_from') AND getvariable('first_to')
