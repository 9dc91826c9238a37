-- reads: rows(label, tid)
-- params: none
-- returns: tid, labels
-- grain: tid
-- How many released items each transaction shows.
SELECT rows.tid, CAST(count(*) AS INTEGER) AS labels FROM rows GROUP BY rows.tid
