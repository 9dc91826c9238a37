-- reads: transactions(tid, item)
-- params: none
-- returns: record, item
-- grain: record, item
-- Every occurrence, transactions numbered from 0, sorted.
SELECT tid - 1 AS record, item FROM transactions ORDER BY tid ASC, item ASC
