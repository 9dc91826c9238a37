-- reads: released_items(released_item, item)
-- params: none
-- returns: released, label
-- grain: label
-- The released items of an existing release, numbered from 0 in code-point order of their labels.
SELECT CAST(row_number() OVER (ORDER BY released_item) - 1 AS INTEGER) AS released, released_item AS label
FROM (SELECT DISTINCT released_item FROM released_items) AS distinct_items
