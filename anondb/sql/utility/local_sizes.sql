-- reads: coded(item), members(released, label)
-- params: none
-- returns: size
-- grain: item
-- How many original items each released item stands for; released items are numbered from 0 without a gap.
SELECT count(members.label) AS size
FROM coded
LEFT JOIN members ON coded.item = members.released
GROUP BY coded.item
ORDER BY coded.item ASC
