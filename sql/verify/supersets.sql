-- reads: possible(id, length, superset), rests(id, position, item), set_items(id, item)
-- params: settled
-- returns: id, superset
-- grain: id, superset
-- The possible supersets that hold every item of the transaction. `settled` items were matched before, the anchor
-- included; only the others are counted.
SELECT possible.id, possible.superset
FROM possible
JOIN rests ON rests.id = possible.id AND rests.position > getvariable('settled') - 2
JOIN set_items ON set_items.id = possible.superset AND set_items.item = rests.item
GROUP BY possible.id, possible.superset, possible.length
HAVING count(*) = possible.length - getvariable('settled')
UNION ALL
SELECT id, superset FROM possible WHERE length <= getvariable('settled')
