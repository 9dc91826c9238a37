-- reads: overlaps(below, above, apart)
-- params: none
-- returns: pairs
-- grain: one row
-- The number of pairs of released items that share a member but are not nested.
SELECT count(*) AS pairs FROM overlaps WHERE overlaps.apart > 0
