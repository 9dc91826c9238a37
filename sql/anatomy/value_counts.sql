-- reads: numbers(value, column_id, copies)
-- params: none
-- returns: column_id, copies
-- grain: value
-- The column of each value and the number of transactions with it, by the number of the value.
SELECT column_id, copies FROM numbers ORDER BY value ASC
