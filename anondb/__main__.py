"""``python -m anondb``."""

from anondb.cli import console

console()
