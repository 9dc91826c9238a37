-- reads: ranked(size)
-- params: none
-- returns: size
-- grain: size
-- The sizes of the sets.
SELECT DISTINCT size FROM ranked ORDER BY size
