-- reads: joined(tid, first_set, second_set), private(tid, item)
-- params: none
-- returns: first_set, second_set, most
-- grain: first_set, second_set
-- For each candidate, the largest number of its transactions that hold the same private item; candidates without private
-- items have no row.
SELECT first_set, second_set, CAST(max(together) AS INTEGER) AS most
FROM (
    SELECT joined.first_set, joined.second_set, private.item, count(*) AS together
    FROM joined
    JOIN private ON joined.tid = private.tid
    GROUP BY joined.first_set, joined.second_set, private.item
) AS counted
GROUP BY first_set, second_set
ORDER BY first_set, second_set
