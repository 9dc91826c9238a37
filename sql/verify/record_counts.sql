-- reads: small(class, records)
-- params: none
-- returns: records
-- grain: class
-- The sizes of the classes that are too small, for witnesses.
SELECT records FROM small ORDER BY records ASC, class ASC
