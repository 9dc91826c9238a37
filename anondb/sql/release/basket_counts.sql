-- reads: baskets(transaction_id, items)
-- params: none
-- returns: baskets, basket_items
-- grain: one row
-- How many baskets there are, and the items in all of them: as many as there are rows in transactions.
SELECT count(*) AS baskets, CAST(coalesce(sum(len(items)), 0) AS BIGINT) AS basket_items FROM baskets
