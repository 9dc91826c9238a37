-- reads: held(label, n), released_items(released_item, item), supports(released_item, support)
-- params: none
-- returns: released_item, item, support, n
-- grain: released_item, item
-- How many transactions show each released item of a global recoding, and how many hold each of its members.
SELECT released_items.released_item, released_items.item, supports.support, coalesce(held.n, 0) AS n
FROM released_items
JOIN supports ON released_items.released_item = supports.released_item
LEFT JOIN held ON released_items.item = held.label
