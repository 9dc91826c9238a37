-- reads: released_items(released_item, item)
-- params: none
-- returns: overlaps
-- grain: one row
-- How many original items too often several released items stand for; 0 in a global recoding.
SELECT count(*) - count(DISTINCT released_items.item) AS overlaps
FROM released_items
