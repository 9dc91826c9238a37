-- reads: rows(tid, class, item), codes(code, class, item)
-- params: none
-- returns: tid, item
-- grain: tid, item
-- The records, with each item replaced by its code in the class of the record.
SELECT rows.tid, codes.code AS item
FROM rows
JOIN codes ON rows.class = codes.class AND rows.item = codes.item
ORDER BY 1, 2
