-- reads: classes(tid, class)
-- params: k
-- returns: class, records
-- grain: class
-- The classes of equal published relational values that have fewer than k records: the empty set is a violation there.
SELECT class, count(*) AS records
FROM classes
GROUP BY class
HAVING count(*) < getvariable('k')
ORDER BY records ASC, class ASC
