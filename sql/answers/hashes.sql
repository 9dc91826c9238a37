-- reads: arguments(a, b, c)
-- params: none
-- returns: h
-- grain: row
-- The hash of three whole numbers from 0 to 2^32 - 1, which is such a number, too: the random numbers of worlds. It consists of
-- additions and multiplications of integers alone, since hash functions of databases change. Each step is a SELECT of its
-- own: written as one expression, its text doubles with every step. ``anondb/answers/hashing.py`` adds columns to be kept.
WITH summed AS (
    SELECT
        (
            ((CAST(arguments.a AS UBIGINT) * CAST(2654435761 AS UBIGINT)) & CAST(4294967295 AS UBIGINT))
            + ((CAST(arguments.b AS UBIGINT) * CAST(2246822519 AS UBIGINT)) & CAST(4294967295 AS UBIGINT))
            + ((CAST(arguments.c AS UBIGINT) * CAST(3266489917 AS UBIGINT)) & CAST(4294967295 AS UBIGINT))
        ) & CAST(4294967295 AS UBIGINT) AS h
    FROM arguments
),
once AS (
    SELECT (xor(summed.h, summed.h >> 16) * CAST(2146121005 AS UBIGINT)) & CAST(4294967295 AS UBIGINT) AS h FROM summed
)
SELECT (xor(once.h, once.h >> 15) * CAST(2221713035 AS UBIGINT)) & CAST(4294967295 AS UBIGINT) AS h FROM once
