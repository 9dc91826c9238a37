-- reads: released_items(released_item, item)
-- params: items
-- returns: item
-- grain: item
-- The queried items that released items stand for, each once: Spark cannot unnest its parameter.
SELECT DISTINCT members.item FROM released_items AS members WHERE list_contains(getvariable('items'), members.item)
