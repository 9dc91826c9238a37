-- reads: violations(violation, items, support)
-- params: none
-- returns: violation, items, support
-- grain: row
-- Violations among the items of classes, without the classes.
SELECT violation, list_transform(items, lambda x : x.item) AS items, support FROM violations
