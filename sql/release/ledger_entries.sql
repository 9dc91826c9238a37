-- reads: releases(name, release_id, model, parameters, algorithm, source_table, source_reference, id_column, item_column, fingerprint, transactions, items, released_items, suppressed_items, suppressed_occurrences, lm_total, lm, ncp, ul, ul_log2, ggd, verified, violations, created, user_name, version, status)
-- params: none
-- returns: name, release_id, model, parameters, algorithm, source_table, source_reference, id_column, item_column, fingerprint, transactions, items, released_items, suppressed_items, suppressed_occurrences, lm_total, lm, ncp, ul, ul_log2, ggd, verified, violations, created, user_name, version, status
-- grain: release_id
-- The ledger, oldest entry first.
SELECT
    name, release_id, model, parameters, algorithm, source_table, source_reference, id_column, item_column, fingerprint, transactions, items,
    released_items, suppressed_items, suppressed_occurrences, lm_total, lm, ncp, ul, ul_log2, ggd, verified, violations, created, user_name,
    version, status
FROM releases
ORDER BY created ASC, release_id ASC
