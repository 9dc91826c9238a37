-- reads: occurrences(tid, itemset, last), public(tid, item)
-- params: none
-- returns: tid, prefix, item
-- grain: tid, prefix, item
-- Every itemset of a transaction, extended by one of the later items of the transaction.
SELECT occurrences.tid, occurrences.itemset AS prefix, public.item
FROM occurrences
JOIN public ON occurrences.tid = public.tid AND public.item > occurrences.last
