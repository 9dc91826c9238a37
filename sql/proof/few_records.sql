-- reads: classes(transaction_id, class)
-- params: k
-- returns: violation, items, support
-- grain: violation
-- At least k records have equal relational values. A class is named by its first transaction.
SELECT
    'too few records have the values of transaction ' || min(transaction_id) AS violation,
    CAST([] AS TEXT[]) AS items,
    count(*) AS support
FROM classes
GROUP BY class
HAVING count(*) < getvariable('k')
