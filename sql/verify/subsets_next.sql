-- reads: occurrences(tid, itemset, last), public(tid, item)
-- params: none
-- returns: tid, prefix, item
-- grain: tid, prefix, item
-- Every itemset of a transaction with one more item of it, behind the last.
SELECT occurrences.tid, occurrences.itemset AS prefix, public.item
FROM occurrences
JOIN public ON occurrences.tid = public.tid AND public.item > occurrences.last
