-- reads: overlaps(below, above, apart)
-- params: none
-- returns: pairs
-- grain: one row
-- How many pairs of released items share a member, neither having all members of the other.
SELECT count(*) AS pairs FROM overlaps WHERE overlaps.apart > 0
