-- reads: source(tid, item), rows(tid)
-- params: none
-- returns: missing_ids, missing_items, transactions, items
-- grain: one row
-- What came of the rows of a file: pairs without an id, those with an id and no item, persons (who may have an empty list, and so
-- no pair), and different items.
SELECT
    count(*) - count(tid) AS missing_ids,
    count(tid) - count(CASE WHEN item IS NOT NULL THEN tid END) AS missing_items,
    (SELECT count(*) FROM (SELECT DISTINCT rows.tid FROM rows WHERE rows.tid IS NOT NULL) AS persons) AS transactions,
    (
        SELECT count(*)
        FROM (SELECT DISTINCT source.item FROM source WHERE source.tid IS NOT NULL AND source.item IS NOT NULL) AS named
    ) AS items
FROM source
