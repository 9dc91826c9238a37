-- reads: fresh(id, itemset, item), frequent(id, itemset, item), subsets(id, position, subset)
-- params: last
-- returns: id, position, subset
-- grain: id, position
-- For each frequent itemset X of a size, the number of X without its item at the position, for all positions but the
-- last; `frequent` and `subsets` are those of the size before, and `last` is their size.
SELECT fresh.id, subsets.position, frequent.id AS subset
FROM fresh
JOIN subsets ON subsets.id = fresh.itemset
JOIN frequent ON frequent.itemset = subsets.subset AND frequent.item = fresh.item
UNION ALL
SELECT fresh.id, getvariable('last') AS position, frequent.id AS subset
FROM fresh
JOIN frequent AS parent ON parent.id = fresh.itemset
JOIN frequent ON frequent.itemset = parent.itemset AND frequent.item = fresh.item
