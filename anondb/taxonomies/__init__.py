"""Taxonomies of items and hierarchies of attributes, for owners: build one, check one against the data, and show one."""

BUILDERS = ("prefix", "code", "categories", "frequency", "similarity")  # what items can be grouped by
HIERARCHIES = (
    "bands",
    "dates",
    "prefix",
    "code",
    "mapping",
    "frequency",
)  # what values of attributes can be grouped by
FAN_OUT = 5
