-- reads: baskets(basket, items)
-- params: none
-- returns: basket, item
-- grain: basket, item
-- One row for each item of each distinct transaction.
SELECT basket, unnest(items) AS item FROM baskets
