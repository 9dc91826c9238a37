"""Taxonomies for owners: build one from the items, check one against the data, and show one."""
