-- reads: released_items(released_item, item)
-- params: none
-- returns: label, name, item, support, at_least, at_most
-- grain: label
-- What worlds know of an anatomy's items, which stand for themselves; in the form of ``members``.
SELECT
    CAST(row_number() OVER (ORDER BY released_items.item ASC) AS INTEGER) AS label,
    released_items.released_item AS name,
    released_items.item,
    1 AS support,
    CAST(NULL AS BIGINT) AS at_least,
    CAST(NULL AS BIGINT) AS at_most
FROM released_items
ORDER BY label ASC
