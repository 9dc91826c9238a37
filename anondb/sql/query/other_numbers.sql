-- reads: released_items(item), asked(label)
-- params: none
-- returns: ambiguous
-- grain: one row
-- How many known labels are another writing of one of the numbers that were asked for, such as 05 for 5.
SELECT count(*) AS ambiguous
FROM released_items
JOIN asked ON TRY_CAST(released_items.item AS HUGEINT) = TRY_CAST(asked.label AS HUGEINT)
WHERE released_items.item <> asked.label
