-- reads: records(transaction_id)
-- params: worlds
-- returns: transaction_id, world
-- grain: transaction_id, world
-- Each person with a record, in each world.
SELECT records.transaction_id, unnest(range(getvariable('worlds'))) AS world FROM records
