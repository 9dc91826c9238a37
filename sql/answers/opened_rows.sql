-- reads: rows(label, tid), opened(label, masked, member)
-- params: none
-- returns: label, tid, member
-- grain: tid, member
-- The rows whose released items stand for one item, each with the released item under which it is masked again.
SELECT opened.masked AS label, rows.tid, opened.member FROM rows JOIN opened ON rows.label = opened.label
