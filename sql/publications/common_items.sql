-- reads: held(row_id, item, copies), cells(released_item, cell)
-- params: bags
-- returns: row_id, item, copies
-- grain: row_id, item
-- The items of published rows generalized to the cells of two releases: a number for its cell replaces each released item; those
-- without a cell are omitted. Copies are added up if both releases publish bags, and are 1 otherwise.
SELECT
    held.row_id,
    cells.cell AS item,
    CASE WHEN getvariable('bags') THEN CAST(sum(held.copies) AS BIGINT) ELSE 1 END AS copies
FROM held
JOIN cells ON held.item = cells.released_item
GROUP BY held.row_id, cells.cell
