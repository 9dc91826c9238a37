-- reads: anchors(expected, part)
-- params: none
-- returns: candidates, parts
-- grain: one row
-- The number of pairs of a transaction and a possible superset, and of the parts in which they are processed.
SELECT CAST(coalesce(sum(expected), 0) AS BIGINT) AS candidates, coalesce(max(part), -1) + 1 AS parts FROM anchors
