-- reads: answers(truth, lower_bound, upper_bound, relative_error)
-- params: none
-- returns: relative_error, outside
-- grain: query
-- The relative errors (NULL where the true count is 0), and whether a true count lies outside its bounds.
SELECT relative_error, NOT truth BETWEEN lower_bound AND upper_bound AS outside FROM answers
