-- reads: rows(copies)
-- params: none
-- returns: held
-- grain: one row
-- How many occurrences of items bags stand for.
SELECT CAST(sum(rows.copies) AS BIGINT) AS held FROM rows
