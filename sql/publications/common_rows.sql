-- reads: published(persons, items, copies, attribute_values), cells(released_item, cell)
-- params: bags
-- returns: persons, items, copies, attribute_values
-- grain: row of published
-- Published rows generalized to the cells of two releases: a number for its cell and its copies replaces each released item;
-- released items without a cell, and relational values, are omitted. Copies are added up if both releases publish bags, and
-- are 1 otherwise.
WITH numbered AS (
    SELECT row_number() OVER () AS row_id, persons, items, copies FROM published
),
listed AS (
    SELECT row_id, unnest(items) AS item, unnest(copies) AS copies FROM numbered
),
merged AS (
    SELECT
        listed.row_id,
        CAST(cells.cell AS BIGINT) * 4294967296
        + CASE WHEN getvariable('bags') THEN CAST(sum(listed.copies) AS BIGINT) ELSE 1 END AS held_cell
    FROM listed
    JOIN cells ON listed.item = cells.released_item
    GROUP BY listed.row_id, cells.cell
),
held AS (
    SELECT row_id, list_sort(list(held_cell)) AS items FROM merged GROUP BY row_id
)
SELECT
    numbered.persons,
    coalesce(held.items, CAST([] AS BIGINT[])) AS items,
    CAST([] AS INTEGER[]) AS copies,
    CAST([] AS TEXT[]) AS attribute_values
FROM numbered
LEFT JOIN held ON numbered.row_id = held.row_id
