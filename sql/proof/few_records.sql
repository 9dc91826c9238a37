-- reads: classes(transaction_id, class)
-- params: k
-- returns: violation, items, support
-- grain: violation
-- At least k records have equal relational values. A class of them is called by the first of its transactions.
SELECT
    'too few records have the values of transaction ' || min(transaction_id) AS violation,
    CAST([] AS TEXT[]) AS items,
    count(*) AS support
FROM classes
GROUP BY class
HAVING count(*) < getvariable('k')
