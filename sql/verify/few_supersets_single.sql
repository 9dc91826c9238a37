-- reads: sets(id, items, length), codes(code, support)
-- params: k
-- returns: id, support
-- grain: id
-- The distinct transactions of one item that are contained in fewer than k transactions.
SELECT sets.id, codes.support
FROM sets JOIN codes ON codes.code = sets.items[1]
WHERE sets.length = 1 AND codes.support < getvariable('k')
