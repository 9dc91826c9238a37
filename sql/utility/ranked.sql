-- reads: sets(set_id, item), supports(item, support)
-- params: none
-- returns: set_id, item, place, size
-- grain: set_id, item
-- The items of each set, the rarest at place 1, where a search meets the fewest transactions.
SELECT
    sets.set_id,
    sets.item,
    row_number() OVER (PARTITION BY sets.set_id ORDER BY coalesce(supports.support, 0), sets.item) AS place,
    count(*) OVER (PARTITION BY sets.set_id) AS size
FROM sets
LEFT JOIN supports ON sets.item = supports.item
