-- reads: pairs(n1, n2, support), roles(node, role, parent), wanted(role_1, role_2, siblings)
-- params: none
-- returns: n1, n2, support
-- grain: n1, n2
-- Those of the rare pairs of different nodes whose roles are asked for; with siblings = 1, of two children of one node alone.
SELECT pairs.n1, pairs.n2, pairs.support
FROM pairs
JOIN roles AS a ON pairs.n1 = a.node
JOIN roles AS b ON pairs.n2 = b.node AND pairs.n1 <> pairs.n2
JOIN wanted ON a.role = wanted.role_1 AND b.role = wanted.role_2 AND (wanted.siblings = 0 OR a.parent = b.parent)
