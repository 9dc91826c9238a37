"""The Python interface: a database, its releases, and how one is opened."""
