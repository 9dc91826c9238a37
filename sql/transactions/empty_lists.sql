-- reads: lists(item)
-- params: none
-- returns: n
-- grain: one row
-- How many transactions have an empty list of items.
SELECT count(*) AS n FROM lists WHERE len(item) = 0
