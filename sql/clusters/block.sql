-- reads: extended(place, node, n)
-- params: low, high
-- returns: place, node, n
-- grain: place, node
-- The transactions at some places, in order.
SELECT place, node, n
FROM extended
WHERE place >= getvariable('low') AND place < getvariable('high')
ORDER BY place ASC, node ASC
