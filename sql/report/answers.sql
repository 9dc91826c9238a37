-- reads: answers(query_id, items, truth, estimate, lower_bound, upper_bound)
-- params: none
-- returns: items, truth, estimate, lower_bound, upper_bound
-- grain: query_id
-- The answers to a workload, in the order of the true counts.
SELECT items, truth, estimate, lower_bound, upper_bound FROM answers ORDER BY truth ASC, items ASC, query_id ASC
