-- reads: taxonomies(release, ord, node, parent)
-- params: release_id
-- returns: node, parent
-- grain: node
-- The taxonomy that a release was made with, in preorder.
SELECT node, parent FROM taxonomies WHERE release = getvariable('release_id') ORDER BY ord ASC
