-- reads: recounted(released_item, item, at_least, at_most), item_supports(released_item, item, at_least, at_most)
-- params: none
-- returns: n
-- grain: one row
-- How many item supports of a release are not those of its current source.
SELECT count(*) AS n
FROM recounted
FULL JOIN item_supports
    ON recounted.released_item = item_supports.released_item AND recounted.item = item_supports.item
WHERE recounted.at_least IS DISTINCT FROM item_supports.at_least OR recounted.at_most IS DISTINCT FROM item_supports.at_most
