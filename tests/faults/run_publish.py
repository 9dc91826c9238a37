"""Publishes the release ``two`` over the file out/spring.duckdb: what the fault tests kill, starve and interrupt."""

import sys

import anondb

if __name__ == "__main__":
    place, target = sys.argv[1:3]
    options = {"memory_limit": sys.argv[3]} if len(sys.argv) > 3 else {}
    with anondb.connect(place, **options) as database:
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            database.release("two").publish(target, replace=True, allow_overlap=True)
        except anondb.AnondbError as error:
            print(error.code, flush=True)
            sys.exit(error.exit_code)
        except KeyboardInterrupt:
            sys.exit(130)
    print("done", flush=True)
