-- reads: source(tid, item), rows(tid)
-- params: none
-- returns: number, missing_ids, missing_items, transactions, items
-- grain: one row
-- What came of the rows of a file: their number, those without an id, pairs with an id and no item, persons (who may have an
-- empty list, and so no pair, as rows without an id may), and different items. Rows without a value are looked for by a condition, which DuckDB answers
-- without reading a column that has a value in every row.
SELECT
    (SELECT count(*) FROM rows) AS number,
    (SELECT count(*) FROM rows WHERE rows.tid IS NULL) AS missing_ids,
    (SELECT count(*) FROM source WHERE source.tid IS NOT NULL AND source.item IS NULL) AS missing_items,
    (SELECT count(DISTINCT rows.tid) FROM rows) AS transactions,
    (SELECT count(DISTINCT source.item) FROM source WHERE source.tid IS NOT NULL) AS items
