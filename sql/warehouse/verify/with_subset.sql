-- reads: candidates(itemset, item, support), subsets(id, position, subset), frequent(id, itemset, item)
-- params: position
-- returns: itemset, item, support
-- grain: itemset, item
-- The candidates that stay frequent without their item at the position.
SELECT candidates.itemset, candidates.item, candidates.support
FROM candidates
JOIN subsets ON subsets.id = candidates.itemset AND subsets.position = getvariable('position')
JOIN frequent ON frequent.itemset = subsets.subset AND frequent.item = candidates.item
