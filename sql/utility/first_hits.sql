-- reads: ranked(set_id, item, place, size), transactions(tid, item)
-- params: none
-- returns: set_id, tid, size
-- grain: set_id, tid
-- The transactions that hold the rarest item of each set.
SELECT ranked.set_id, transactions.tid, ranked.size
FROM ranked
JOIN transactions ON transactions.item = ranked.item
WHERE ranked.place = 1
