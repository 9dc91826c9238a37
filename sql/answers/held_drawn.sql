-- reads: drawn(world, tid, member), items(member, item, part)
-- params: world
-- returns: tid, item, part
-- grain: tid, item
-- The items of all transactions in a world, where all of them are drawn.
SELECT drawn.tid, items.item, items.part
FROM drawn
JOIN items ON drawn.member = items.member
WHERE drawn.world = getvariable('world')
