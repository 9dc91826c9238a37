-- reads: chosen(tid), transactions(tid, item), items(item, label)
-- params: none
-- returns: tid, item
-- grain: tid
-- The transactions of chosen persons as lists of labels.
SELECT
    chosen.tid,
    coalesce(list(items.label ORDER BY items.label) FILTER (WHERE items.label IS NOT NULL), CAST([] AS VARCHAR[])) AS item
FROM chosen
LEFT JOIN transactions ON chosen.tid = transactions.tid
LEFT JOIN items ON transactions.item = items.item
GROUP BY chosen.tid
ORDER BY chosen.tid
