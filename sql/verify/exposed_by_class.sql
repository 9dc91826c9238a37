-- reads: classes(tid, class), holding(tid, class, item, label)
-- params: ell
-- returns: sensitive, support, whole
-- grain: class, sensitive
-- The empty set as background knowledge: classes in which more than one record in l holds a sensitive item.
SELECT holding.label AS sensitive, count(*) AS support, max(sizes.records) AS whole
FROM holding
JOIN (SELECT class, count(*) AS records FROM classes GROUP BY class) AS sizes ON holding.class = sizes.class
GROUP BY holding.class, holding.item, holding.label
HAVING count(*) * getvariable('ell') > max(sizes.records)
ORDER BY sensitive ASC, holding.class ASC
