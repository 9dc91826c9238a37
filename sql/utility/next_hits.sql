-- reads: hits(set_id, tid, size), ranked(set_id, item, place, size), transactions(tid, item)
-- params: place
-- returns: set_id, tid, size
-- grain: set_id, tid
-- The hits that also hold the item at the next place; sets without such a place drop out.
SELECT hits.set_id, hits.tid, hits.size
FROM hits
JOIN ranked ON ranked.set_id = hits.set_id
WHERE
    ranked.place = getvariable('place')
    AND EXISTS (
        SELECT 1 FROM transactions WHERE transactions.tid = hits.tid AND transactions.item = ranked.item
    )
