-- reads: lengths(ordering, tid, place, weight), powers(world, power)
-- params: salt
-- returns: a, b, c, ordering, tid, weight
-- grain: ordering, tid
-- Transactions in other worlds, each world with an order of its own and a power of the weights; with the arguments of the hash by
-- which they are ordered.
SELECT
    lengths.tid AS a,
    powers.world AS b,
    CAST(getvariable('salt') AS BIGINT) & 4294967295 AS c,
    powers.world AS ordering,
    lengths.tid,
    pow(lengths.weight, powers.power) AS weight
FROM lengths
CROSS JOIN powers
