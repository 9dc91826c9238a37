-- reads: source(tid, item)
-- params: none
-- returns: missing, transactions, items
-- grain: one row
-- What came of the rows of a file that was loaded: rows without an id or an item, persons, and different items.
SELECT
    count(*) - count(CASE WHEN tid IS NOT NULL AND item IS NOT NULL THEN 1 END) AS missing,
    count(DISTINCT tid) AS transactions,
    count(DISTINCT item) AS items
FROM source
