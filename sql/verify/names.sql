-- reads: codes(code, item), items(item, label)
-- params: none
-- returns: code, label
-- grain: code
-- The label of every code.
SELECT codes.code, items.label FROM codes JOIN items ON codes.item = items.item
