-- reads: images(item, released_item)
-- params: none
-- returns: item, label
-- grain: item
-- The released items that occur in the current data, numbered from 0 in code-point order.
SELECT CAST(row_number() OVER (ORDER BY released_item) - 1 AS INTEGER) AS item, released_item AS label
FROM (SELECT DISTINCT released_item FROM images WHERE released_item IS NOT NULL) AS occurring
