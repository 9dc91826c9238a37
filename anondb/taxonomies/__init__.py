"""Taxonomies for owners: build one from the items, check one against the data, and show one."""

BUILDERS = ("prefix", "code", "categories", "frequency", "similarity")  # what items can be grouped by
FAN_OUT = 5
