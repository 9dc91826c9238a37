-- reads: held(tid, column_id, items), numbers(value, column_id, items)
-- params: none
-- returns: tid, value
-- grain: tid, value
-- The value numbers of every transaction; transactions are in input order.
SELECT held.tid, numbers.value
FROM held
JOIN numbers ON held.column_id = numbers.column_id AND held.items = numbers.items
ORDER BY held.tid ASC, numbers.value ASC
