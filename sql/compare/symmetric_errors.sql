-- reads: accuracy(workload, query_id, truth, estimate), workloads(workload, query_id, items)
-- params: prefix
-- returns: size, queries, error
-- grain: size
-- The mean of |truth - estimate| / the larger of both, by the number of items of a query (queries in SQL have none), over the
-- workloads whose names have this prefix. It is 0 for exact answers, and 1, its largest value, for the answer 0: suppression
-- cannot make it small.
SELECT
    len(workloads.items) AS size,
    count(*) AS queries,
    avg(
        CASE
            WHEN accuracy.truth = accuracy.estimate THEN 0
            ELSE abs(accuracy.truth - accuracy.estimate) / greatest(accuracy.truth, accuracy.estimate)
        END
    ) AS error
FROM accuracy
JOIN workloads ON accuracy.workload = workloads.workload AND accuracy.query_id = workloads.query_id
WHERE starts_with(accuracy.workload, getvariable('prefix')) AND workloads.items IS NOT NULL
GROUP BY len(workloads.items)
ORDER BY 1
