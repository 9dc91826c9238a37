-- reads: reconstruction(transaction_id, items), items(item, label)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- A reconstruction of an anatomy with the item numbers of the original.
SELECT listed.transaction_id AS tid, items.item
FROM (SELECT transaction_id, unnest(items) AS label FROM reconstruction) AS listed
JOIN items ON listed.label = items.label
