-- reads: classes(tid, class)
-- params: none
-- returns: class
-- grain: tid
-- The class of each record, in their order.
SELECT class FROM classes ORDER BY tid ASC
