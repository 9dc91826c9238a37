-- reads: items(item, label), members(release, released_item, item)
-- params: none
-- returns: part, item
-- grain: part, item
-- The released items of several releases as sets of items of the data, numbered; equal sets have one number.
WITH sets AS (
    SELECT list(items.item ORDER BY items.item ASC) AS stands_for
    FROM members
    JOIN items ON members.item = items.label
    GROUP BY members.release, members.released_item
),
numbered AS (
    SELECT stands_for, CAST(row_number() OVER (ORDER BY stands_for ASC) AS INTEGER) AS part
    FROM (SELECT DISTINCT stands_for FROM sets) AS distinct_sets
)
SELECT part, unnest(stands_for) AS item FROM numbered
