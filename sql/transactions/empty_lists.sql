-- reads: lists(item)
-- params: none
-- returns: n
-- grain: one row
-- The number of transactions with an empty list of items.
SELECT count(*) AS n FROM lists WHERE len(item) = 0
