-- reads: content(grp, released, copies), members(tid, grp)
-- params: none
-- returns: tid, released, copies
-- grain: tid, released
-- Every transaction as its group is published.
SELECT members.tid, content.released, content.copies
FROM members
JOIN content ON members.grp = content.grp
