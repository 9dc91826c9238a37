-- reads: released_items(released_item, item), groups(group_id, item)
-- params: none
-- returns: released_item
-- grain: released_item
-- Released items that do not lie within one utility constraint; all items without a group form one group.
SELECT released_items.released_item
FROM released_items
LEFT JOIN groups ON groups.item = released_items.item
GROUP BY released_items.released_item
HAVING count(DISTINCT groups.group_id) + max(CASE WHEN groups.group_id IS NULL THEN 1 ELSE 0 END) > 1
