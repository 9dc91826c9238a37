"""Readers of transactions, records, taxonomies and constraints, and handles to the data they read."""
