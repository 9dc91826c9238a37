-- reads: published(persons, items, copies, attribute_values), cells(released_item, cell)
-- params: bags
-- returns: persons, items, copies, attribute_values
-- grain: row of published
-- Published rows generalized to the cells of two releases: the number of its cell replaces each released item; released items
-- without a cell, and relational values, are omitted. Copies are added up if both releases publish bags, and are 1 otherwise.
WITH numbered AS (
    SELECT row_number() OVER (ORDER BY items ASC, copies ASC, attribute_values ASC) AS row_id, persons, items, copies
    FROM published
),
listed AS (
    SELECT row_id, unnest(items) AS item, unnest(copies) AS copies FROM numbered
),
merged AS (
    SELECT
        listed.row_id,
        cells.cell,
        CASE WHEN getvariable('bags') THEN CAST(sum(listed.copies) AS BIGINT) ELSE 1 END AS copies
    FROM listed
    JOIN cells ON listed.item = cells.released_item
    GROUP BY listed.row_id, cells.cell
),
held AS (
    SELECT row_id, list(cell ORDER BY cell ASC) AS items, list(copies ORDER BY cell ASC) AS copies
    FROM merged
    GROUP BY row_id
)
SELECT
    numbered.persons,
    coalesce(held.items, CAST([] AS INTEGER[])) AS items,
    coalesce(held.copies, CAST([] AS BIGINT[])) AS copies,
    CAST([] AS TEXT[]) AS attribute_values
FROM numbered
LEFT JOIN held ON numbered.row_id = held.row_id
