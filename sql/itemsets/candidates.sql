-- reads: joined(tid, first_set, second_set)
-- params: none
-- returns: first_set, second_set, support
-- grain: first_set, second_set
-- The support of every candidate.
SELECT first_set, second_set, CAST(count(*) AS INTEGER) AS support
FROM joined
GROUP BY first_set, second_set
ORDER BY first_set, second_set
