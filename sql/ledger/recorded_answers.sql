-- reads: accuracy(release_id, workload, query_id, truth, estimate, lower_bound, upper_bound), workloads(workload, query_id, items)
-- params: release_id
-- returns: workload, items, truth, estimate, lower_bound, upper_bound
-- grain: workload, query_id
-- The answers that the ledger has of a release, by workload, in the order of the true counts. A statement of a log has no
-- items, but a number and the values of its group.
SELECT
    accuracy.workload,
    coalesce(workloads.items, [workloads.query_id]) AS items,
    accuracy.truth,
    accuracy.estimate,
    accuracy.lower_bound,
    accuracy.upper_bound
FROM accuracy
JOIN workloads ON accuracy.workload = workloads.workload AND accuracy.query_id = workloads.query_id
WHERE accuracy.release_id = getvariable('release_id')
ORDER BY accuracy.workload ASC, accuracy.truth ASC, workloads.items ASC, accuracy.query_id ASC
