-- reads: labels(item_id, item)
-- params: none
-- returns: item, label
-- grain: item
-- The labels of a release, numbered from 0 in code-point order; a label with two item_ids gets one number.
SELECT CAST(row_number() OVER (ORDER BY item ASC) - 1 AS INTEGER) AS item, item AS label
FROM (SELECT DISTINCT item FROM labels) AS distinct_labels
