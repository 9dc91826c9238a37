-- reads: coded(item), members(released, label)
-- params: none
-- returns: size
-- grain: item
-- The number of original items that each released item stands for, 1 if no items are listed; released items are numbered from 0
-- without gaps.
SELECT count(*) AS size
FROM coded
LEFT JOIN members ON coded.item = members.released
GROUP BY coded.item
ORDER BY coded.item ASC
