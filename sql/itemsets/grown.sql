-- reads: occurrences(tid, prefix, member, itemset), kept(first_set, second_set, itemset)
-- params: none
-- returns: tid, prefix, member, itemset
-- grain: tid, itemset
-- The occurrences of the kept itemsets of the next size.
SELECT a.tid, a.itemset AS prefix, b.member, kept.itemset
FROM occurrences AS a
JOIN occurrences AS b ON a.tid = b.tid AND a.prefix = b.prefix AND b.member > a.member
JOIN kept ON kept.first_set = a.itemset AND kept.second_set = b.itemset
