-- reads: numbers(value, column_id, copies)
-- params: none
-- returns: column_id, copies
-- grain: value
-- The column of each value and how many transactions have it, by its number.
SELECT column_id, copies FROM numbers ORDER BY value ASC
