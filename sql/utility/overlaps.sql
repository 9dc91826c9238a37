-- reads: cover(item, released)
-- params: none
-- returns: overlaps
-- grain: one row
-- How many items several released items stand for; none in a global recoding.
SELECT count(*) AS overlaps
FROM (SELECT item FROM cover GROUP BY item HAVING count(*) > 1) AS several
