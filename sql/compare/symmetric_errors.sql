-- reads: accuracy(workload, query_id, truth, estimate), workloads(workload, query_id, items)
-- params: prefix
-- returns: size, statement, queries, error, relative
-- grain: size, statement
-- The mean of |truth - estimate| / the larger of both, and of |truth - estimate| / truth, over the queries of the workloads
-- whose names have this prefix that somebody fits: by the number of items of a query or, of a log of SQL (size 0), by the
-- statement. The first is 0 for exact answers, and 1, its largest value, for the answer 0: suppression cannot make it small.
-- The second has no limit; above 1, answering 0 would be nearer on average.
SELECT
    coalesce(len(workloads.items), 0) AS size,
    CASE
        WHEN workloads.items IS NULL THEN CAST(split_part(CAST(accuracy.query_id AS VARCHAR), ':', 1) AS INTEGER)
        ELSE 0
    END AS statement,
    count(*) AS queries,
    avg(abs(accuracy.truth - accuracy.estimate) / greatest(accuracy.truth, accuracy.estimate)) AS error,
    avg(abs(accuracy.truth - accuracy.estimate) / accuracy.truth) AS relative
FROM accuracy
JOIN workloads ON accuracy.workload = workloads.workload AND accuracy.query_id = workloads.query_id
WHERE starts_with(accuracy.workload, getvariable('prefix')) AND accuracy.truth > 0
GROUP BY 1, 2
ORDER BY 1, 2
