-- reads: publications(name, release_id, file, transactions, rows, sha256, content_digest, allowed_overlap, smallest_candidates, published, user_name)
-- params: none
-- returns: name, release_id, file, transactions, rows, sha256, content_digest, allowed_overlap, smallest_candidates, published, user_name
-- grain: publication
-- All publications, oldest first.
SELECT name, release_id, file, transactions, rows, sha256, content_digest, allowed_overlap, smallest_candidates, published, user_name
FROM publications
ORDER BY published ASC, release_id ASC, file ASC
