-- reads: codes(code, label)
-- params: none
-- returns: item, label
-- grain: item
-- The label of each code of an item in a class.
SELECT code AS item, label FROM codes
