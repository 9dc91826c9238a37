-- reads: sets(id, items, length, copies), set_items(id, item), pairs(itemset, item, support)
-- params: k, chunk
-- returns: id, length, first_item, second_item, expected, part
-- grain: id
-- For every distinct transaction of two or more items and fewer than k copies: its rarest item, and the item that
-- occurs least often with it. Every superset holds this pair, and few other transactions do. Parts have a bounded expected
-- number of candidates.
WITH best AS (
    SELECT sets.id, any_value(sets.length) AS length, pairs.itemset AS first_item, min(pairs.support * 4294967296 + pairs.item) AS best
    FROM sets
    JOIN set_items ON set_items.id = sets.id
    JOIN pairs ON pairs.itemset = sets.items[1] AND pairs.item = set_items.item
    WHERE sets.copies < getvariable('k') AND sets.length > 1
    GROUP BY sets.id, pairs.itemset
)
SELECT
    id,
    length,
    first_item,
    CAST(best % 4294967296 AS INTEGER) AS second_item,
    best // 4294967296 AS expected,
    CAST(sum(best // 4294967296) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) // getvariable('chunk') AS INTEGER) AS part
FROM best
