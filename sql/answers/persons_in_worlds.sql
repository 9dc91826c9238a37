-- reads: records(transaction_id)
-- params: first, end
-- returns: transaction_id, world
-- grain: transaction_id, world
-- Each person with a record, in each world from number ``first`` to before ``end``.
SELECT records.transaction_id, unnest(range(getvariable('first'), getvariable('end'))) AS world FROM records
