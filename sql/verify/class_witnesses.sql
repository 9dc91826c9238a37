-- reads: classes(content, complete, support), items(item, label)
-- params: most
-- returns: place, support, label, copies
-- grain: place, label
-- The first classes with too few members by size and labels, in long form; a class without items has one row without a label.
WITH numbered AS (
    SELECT row_number() OVER (ORDER BY content, complete) AS id, content, complete, support FROM classes
),
parts AS (SELECT id, unnest(content) AS part FROM numbered),
named AS (
    SELECT parts.id, items.label, (parts.part & 4294967295) AS copies
    FROM parts
    JOIN items ON (parts.part >> 32) = items.item
),
described AS (
    SELECT id, sum(copies) AS length, list_sort(list({'label': label, 'copies': copies})) AS shown FROM named GROUP BY id
),
placed AS (
    SELECT
        numbered.id,
        numbered.support,
        row_number() OVER (
            ORDER BY coalesce(described.length, 0), described.shown, numbered.complete, numbered.id
        ) AS place
    FROM numbered
    LEFT JOIN described ON numbered.id = described.id
)
SELECT placed.place, placed.support, named.label, CAST(named.copies AS INTEGER) AS copies
FROM placed
LEFT JOIN named ON placed.id = named.id
WHERE placed.place <= getvariable('most')
ORDER BY placed.place, named.label
