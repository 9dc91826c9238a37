-- reads: source(tid, item)
-- params: none
-- returns: missing_ids, missing_items, transactions, items
-- grain: one row
-- What came of the rows of a file: rows without an id, those with an id and no item, persons, and different items.
SELECT
    count(*) - count(tid) AS missing_ids,
    count(tid) - count(CASE WHEN item IS NOT NULL THEN tid END) AS missing_items,
    count(DISTINCT tid) AS transactions,
    count(DISTINCT CASE WHEN tid IS NOT NULL THEN item END) AS items
FROM source
