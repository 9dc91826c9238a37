-- reads: public(tid, item)
-- params: none
-- returns: tid, itemset, last
-- grain: tid, itemset
-- Every public item of a transaction as an itemset of size one, numbered like the item.
SELECT tid, CAST(item AS BIGINT) AS itemset, item AS last FROM public
