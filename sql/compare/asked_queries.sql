-- reads: accuracy(workload, query_id, truth), workloads(workload, query_id, items)
-- params: prefix
-- returns: asked
-- grain: one row
-- A digest of the queries and true counts of the workloads whose names have this prefix: equal for runs that answered the same
-- queries.
WITH asked AS (
    SELECT concat_ws(' ', accuracy.query_id, accuracy.truth, CAST(workloads.items AS VARCHAR)) AS query
    FROM accuracy
    JOIN workloads ON accuracy.workload = workloads.workload AND accuracy.query_id = workloads.query_id
    WHERE starts_with(accuracy.workload, getvariable('prefix'))
)
SELECT sha256(coalesce(string_agg(query, chr(10) ORDER BY query), '')) AS asked FROM asked
