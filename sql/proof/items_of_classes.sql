-- reads: transactions(transaction_id, item), classes(transaction_id, class), sensitive(item)
-- params: none
-- returns: transaction_id, item
-- grain: transaction_id, item
-- The nonsensitive items, each distinguished from the same item of other classes of records.
SELECT DISTINCT transactions.transaction_id, {'class': classes.class, 'item': transactions.item} AS item
FROM transactions JOIN classes ON transactions.transaction_id = classes.transaction_id
WHERE transactions.item NOT IN (SELECT sensitive.item FROM sensitive)
