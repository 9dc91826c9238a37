-- reads: cells(cell)
-- params: none
-- returns: cells
-- grain: one row
-- How many parts two anatomies have in common.
SELECT count(DISTINCT cell) AS cells FROM cells
