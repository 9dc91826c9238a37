-- reads: cover(item, released)
-- params: none
-- returns: overlaps
-- grain: one row
-- The number of items that several released items stand for; 0 in a global recoding.
SELECT count(*) AS overlaps
FROM (SELECT item FROM cover GROUP BY item HAVING count(*) > 1) AS several
