-- reads: ids(tid)
-- params: most
-- returns: tid
-- grain: tid
-- At most so many persons; which ones depends on their numbers alone.
SELECT tid FROM ids ORDER BY md5(CAST(tid AS VARCHAR)), tid LIMIT getvariable('most')
