-- reads: transactions(item)
-- params: released_item
-- returns: transactions
-- grain: one row
-- How many transactions have one released item, which a transaction has once.
SELECT count(*) AS transactions FROM transactions WHERE transactions.item = getvariable('released_item')
