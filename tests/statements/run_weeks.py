"""Creates the view ``weekly`` or refreshes it: what the kill test kills."""

import sys

import anondb

CREATE = """
CREATE ANONYMIZED VIEW IF NOT EXISTS weekly AS SELECT tid, item, week FROM sales
WITH (k = 2, m = 1, queries = 1, partition_by = 'week', publish = 'weeks');
REFRESH ANONYMIZED VIEW weekly;
"""

if __name__ == "__main__":
    with anondb.connect(sys.argv[1], threads=1) as database:
        print("ready", flush=True)
        database.sql(CREATE)
    print("done", flush=True)
