-- reads: members(released, label)
-- params: none
-- returns: size
-- grain: released
-- How many original items each released item stands for; released items are numbered from 0 without a gap.
SELECT count(*) AS size FROM members GROUP BY released ORDER BY released ASC
