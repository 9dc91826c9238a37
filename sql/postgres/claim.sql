-- reads: none
-- params: none
-- returns: claimed
-- grain: one row
-- Whether this transaction alone writes into the ledger of the database until it ends; the number is the word anondb in ASCII.
SELECT pg_catalog.pg_try_advisory_xact_lock(107126943802466) AS claimed
