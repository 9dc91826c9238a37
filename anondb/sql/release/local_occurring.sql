-- reads: recoded(released)
-- params: none
-- returns: released
-- grain: released
-- The released items that occur.
SELECT DISTINCT released FROM recoded ORDER BY released ASC
