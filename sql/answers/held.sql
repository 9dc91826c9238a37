-- reads: rows(label, tid), base(label, item, part), drawn(world, tid, member), items(member, item, part)
-- params: world
-- returns: tid, item, part
-- grain: tid, item
-- The items of all transactions in a world: those of released items that stand for one item, which are the same in all worlds,
-- and those that were drawn.
SELECT rows.tid, base.item, base.part FROM rows JOIN base ON rows.label = base.label
UNION ALL
SELECT drawn.tid, items.item, items.part
FROM drawn
JOIN items ON drawn.member = items.member
WHERE drawn.world = getvariable('world')
