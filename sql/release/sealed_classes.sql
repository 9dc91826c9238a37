-- reads: classes(transaction_id, class), transaction_ids(transaction_id, complete)
-- params: none
-- returns: classes_that_are_complete_in_part
-- grain: one row
-- Equivalence classes some of whose transactions are said to be complete and others not: there are none in a release as
-- anondb writes it.
SELECT count(*) AS classes_that_are_complete_in_part
FROM (
    SELECT classes.class
    FROM transaction_ids
    LEFT JOIN classes ON transaction_ids.transaction_id = classes.transaction_id
    GROUP BY classes.class
    HAVING count(DISTINCT transaction_ids.complete) > 1
) AS differing
