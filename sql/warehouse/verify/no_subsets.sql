-- reads: frequent(id)
-- params: none
-- returns: id, position, subset
-- grain: id, position
-- The subsets of itemsets of one item: none, since these have no position but the last.
SELECT id, 0 AS position, 0 AS subset FROM frequent WHERE id < 0
