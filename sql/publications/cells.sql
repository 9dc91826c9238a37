-- reads: cells(cell)
-- params: none
-- returns: cells
-- grain: one row
-- The number of parts that two anatomies have in common.
SELECT count(DISTINCT cell) AS cells FROM cells
