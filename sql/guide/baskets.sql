-- reads: ids(tid), transactions(tid, item), items(item, label)
-- params: most
-- returns: tid, item
-- grain: tid
-- The transactions as lists of labels, or those of so many persons; which ones depends on their numbers alone.
WITH chosen AS (SELECT tid FROM ids ORDER BY md5(CAST(tid AS VARCHAR)), tid LIMIT getvariable('most'))
SELECT
    chosen.tid,
    coalesce(list(items.label ORDER BY items.label) FILTER (WHERE items.label IS NOT NULL), CAST([] AS VARCHAR[])) AS item
FROM chosen
LEFT JOIN transactions ON chosen.tid = transactions.tid
LEFT JOIN items ON transactions.item = items.item
GROUP BY chosen.tid
ORDER BY chosen.tid
