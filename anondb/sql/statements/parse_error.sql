-- reads: none
-- params: text
-- returns: found
-- grain: one row
-- What DuckDB's parser says of a text, as JSON; for the position of a syntax error, in bytes.
SELECT json_serialize_sql(getvariable('text')) AS found
