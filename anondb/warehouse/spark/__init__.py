"""Spark as a warehouse: its session, and the files and tables of a release there."""
