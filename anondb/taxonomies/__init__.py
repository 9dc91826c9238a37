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
# what a builder may be told beside the root, by the name of the field of its request
OPTION_OF = {
    "prefix": "separator",
    "code": "lengths",
    "categories": "columns",
    "mapping": "mapping",
    "bands": "steps",
    "frequency": "fan_out",
    "similarity": "fan_out",
}
