-- reads: ranked(size)
-- params: none
-- returns: size
-- grain: size
-- Which sizes occur among the sets.
SELECT DISTINCT size FROM ranked ORDER BY size
