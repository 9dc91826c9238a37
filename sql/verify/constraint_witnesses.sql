-- reads: found(id, items, support), shapes(id, items), lists(constraint_id, items), items(item, label)
-- params: how_many
-- returns: constraint_id, labels, support
-- grain: constraint_id
-- The first unsatisfied constraints by id, each with its shortest rare part.
WITH named AS (
    SELECT parts.id, parts.items, list(items.label ORDER BY items.label) AS labels
    FROM (SELECT DISTINCT id, items, unnest(items) AS item FROM found) AS parts
    JOIN items ON items.item = parts.item
    GROUP BY parts.id, parts.items
),
ranked AS (
    SELECT
        named.id,
        named.labels,
        found.support,
        row_number() OVER (PARTITION BY named.id ORDER BY len(named.labels), named.labels) AS place
    FROM named
    JOIN found ON found.id = named.id AND found.items = named.items
)
SELECT lists.constraint_id, ranked.labels, ranked.support
FROM ranked
JOIN shapes ON shapes.id = ranked.id
JOIN lists ON lists.items = shapes.items
WHERE ranked.place = 1
ORDER BY lists.constraint_id
LIMIT getvariable('how_many')
