-- reads: none
-- params: items
-- returns: passed
-- grain: one row
-- Whether count_bounds can be asked about this list of items: an error where it cannot. The error is a cast of its text, which
-- only runs where it is needed.
SELECT
    CASE
        WHEN getvariable('items') IS NULL
            THEN CAST(concat('count_bounds: the list of items is NULL. Give a list, ARRAY[]::text[] for all transactions.') AS BOOLEAN)
        WHEN array_position(getvariable('items'), NULL) IS NOT NULL
            THEN CAST(concat('count_bounds: the list of items has a NULL in it. Leave it out.') AS BOOLEAN)
        ELSE true
    END AS passed
