-- reads: held(tid, item, part), ids(tid, part)
-- params: none
-- returns: tid, item, part
-- grain: tid
-- The items of each transaction as a list, which is empty where it has none.
SELECT
    ids.tid,
    coalesce(list(held.item ORDER BY held.item ASC) FILTER (WHERE held.tid IS NOT NULL), []) AS item,
    ids.part
FROM ids
LEFT JOIN held ON ids.tid = held.tid
GROUP BY ids.tid, ids.part
