-- reads: rows(label, tid, copies)
-- params: none
-- returns: label, tid
-- grain: label, tid, copy
-- The rows of bags, each as often as it has copies.
SELECT copied.label, copied.tid FROM (SELECT rows.label, rows.tid, unnest(range(rows.copies)) AS copy FROM rows) AS copied
