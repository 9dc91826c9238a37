-- reads: items(item, label)
-- params: none
-- returns: near
-- grain: one row
-- Items that differ from another only by white space at the ends: legal and distinct, but often a mistake.
SELECT count(*) - count(DISTINCT trim(label, ' ' || chr(9) || chr(10) || chr(13))) AS near FROM items
