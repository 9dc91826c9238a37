"""Handles to the data: transactions, taxonomies, workloads, and the readers of files."""
