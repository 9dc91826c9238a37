-- reads: shown(class)
-- params: none
-- returns: groups, smallest, middle, largest
-- grain: one row
-- How many groups of persons with equal released attributes there are, and their sizes.
WITH sizes AS (
    SELECT class, count(*) AS n FROM shown GROUP BY class
)
SELECT count(*) AS groups, min(n) AS smallest, CAST(median(n) AS DOUBLE) AS middle, max(n) AS largest FROM sizes
