-- reads: loaded_files(source_reference, path, account)
-- params: reference
-- returns: path, account
-- grain: load
-- The files that a table was loaded from, the last one last: rows of the ledger keep their order.
SELECT path, account FROM loaded_files WHERE source_reference = getvariable('reference')
