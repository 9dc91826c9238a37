-- reads: transactions(tid, item, copies)
-- params: none
-- returns: tid, place, code
-- grain: tid, place
-- The items of each transaction, in order, by their places from 0. A code is the least transaction that has the same item, as
-- often, at the same place.
SELECT
    tid, place, min(tid) OVER (PARTITION BY place, item, copies) AS code
FROM (
    SELECT tid, item, copies, row_number() OVER (PARTITION BY tid ORDER BY item) - 1 AS place
    FROM transactions
) AS placed
