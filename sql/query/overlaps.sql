-- reads: released_items(released_item, item)
-- params: none
-- returns: below, above, size, apart
-- grain: below, above
-- The pairs of released items that share a member, the one with fewer members below the other (tie: the smaller label); the
-- size of the upper one, and the number of members of the lower one that the upper one lacks.
WITH sizes AS (
    SELECT released_items.released_item, count(*) AS size FROM released_items GROUP BY released_items.released_item
),
members AS (
    SELECT released_items.released_item, released_items.item, sizes.size
    FROM released_items
    JOIN sizes ON released_items.released_item = sizes.released_item
)
SELECT
    lower_one.released_item AS below, upper_one.released_item AS above, max(upper_one.size) AS size,
    max(lower_one.size) - count(*) AS apart
FROM members AS lower_one
JOIN members AS upper_one ON lower_one.item = upper_one.item
WHERE
    lower_one.size < upper_one.size
    OR (lower_one.size = upper_one.size AND lower_one.released_item < upper_one.released_item)
GROUP BY lower_one.released_item, upper_one.released_item
