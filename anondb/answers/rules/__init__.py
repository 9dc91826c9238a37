"""Rules from which bounds follow, without SQL: they take arrays, and know nothing of queries."""
