-- reads: transactions(item)
-- params: released_item
-- returns: transactions
-- grain: one row
-- The support of one released item, which a transaction has at most once.
SELECT count(*) AS transactions FROM transactions WHERE transactions.item = getvariable('released_item')
