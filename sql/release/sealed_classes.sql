-- reads: classes(transaction_id, class), transaction_ids(transaction_id, complete)
-- params: none
-- returns: classes_that_are_complete_in_part
-- grain: one row
-- The number of equivalence classes with both complete and incomplete transactions: 0 in a release that anondb wrote.
SELECT count(*) AS classes_that_are_complete_in_part
FROM (
    SELECT classes.class
    FROM transaction_ids
    LEFT JOIN classes ON transaction_ids.transaction_id = classes.transaction_id
    GROUP BY classes.class
    HAVING count(DISTINCT transaction_ids.complete) > 1
) AS differing
