-- reads: held(column_id, items)
-- params: none
-- returns: value, column_id, items, copies
-- grain: value
-- The distinct non-empty values of all columns, numbered from 0 by column and items, with the number of transactions that have each.
SELECT
    CAST(row_number() OVER (ORDER BY column_id ASC, items ASC) - 1 AS INTEGER) AS value,
    column_id,
    items,
    copies
FROM (SELECT column_id, items, count(*) AS copies FROM held GROUP BY column_id, items) AS counted
