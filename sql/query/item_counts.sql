-- reads: item_counts(item, lower_bound, estimate, upper_bound)
-- params: none
-- returns: item, lower_bound, estimate, upper_bound
-- grain: item
-- What a release says of each original item alone.
SELECT item, lower_bound, estimate, upper_bound FROM item_counts
