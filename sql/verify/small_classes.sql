-- reads: classes(content, complete, support)
-- params: k
-- returns: content, complete, support
-- grain: content, complete
-- The classes of transactions that are published alike and have fewer than k members.
SELECT content, complete, support FROM classes WHERE support < getvariable('k')
