-- reads: in_place(passed)
-- params: items
-- returns: passed
-- grain: one row
-- Whether count_bounds can be asked about this list of items here: an error where it cannot.
SELECT
    CASE
        WHEN NOT in_place.passed THEN false
        WHEN coalesce(current_setting('default_collation'), '') <> ''
            THEN error('count_bounds: items are compared by code points. RESET default_collation first.')
        WHEN asked.labels IS NULL
            THEN error('count_bounds: the list of items is NULL. Give a list, [] for all transactions.')
        WHEN list_count(asked.labels) < len(asked.labels)
            THEN error('count_bounds: the list of items has a NULL in it. Leave it out.')
        ELSE true
    END AS passed
FROM in_place
CROSS JOIN (SELECT CAST(getvariable('items') AS TEXT[]) AS labels) AS asked
