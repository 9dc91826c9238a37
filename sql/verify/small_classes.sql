-- reads: classes(content, complete, support)
-- params: k
-- returns: content, complete, support
-- grain: content, complete
-- The classes of equal published transactions with fewer than k members.
SELECT content, complete, support FROM classes WHERE support < getvariable('k')
