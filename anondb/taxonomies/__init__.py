"""Taxonomies of items and hierarchies of attributes, for owners: build one, check one against the data, and show one."""

BUILDERS = ("prefix", "code", "categories", "frequency", "similarity")  # what items can be grouped by
HIERARCHIES = ("bands", "dates", "prefix", "code", "mapping", "frequency")  # what values of attributes can be grouped by
FAN_OUT = 5
GROUPS = {  # what the groups of each builder are
    "prefix": "names with the same first parts, such as dairy/milk/whole",
    "code": "codes with the same first characters, such as 250* for 250.01",
    "categories": "items with the same values in other columns of the transactions",
    "frequency": "neighbours in the order of their names, in groups of about equal frequency",
    "similarity": "items that occur with the same other items",
    "bands": "numbers in bands of equal widths, each within a wider one",
    "dates": "months, quarters, years and decades",
    "mapping": "your own groups",
}
# what a builder may be told beside the root: the name of the field of its request
OPTION_OF = {
    "prefix": "separator",
    "code": "lengths",
    "categories": "columns",
    "mapping": "mapping",
    "bands": "steps",
    "frequency": "fan_out",
    "similarity": "fan_out",
}
OPTIONS = {  # what each option is
    "separator": "the text between the parts of a name",
    "lengths": "numbers of first characters, such as 1,3; by default all",
    "columns": "the columns with the groups, the coarsest first",
    "mapping": "values with their groups, as a taxonomy has them: a table or a file",
    "steps": "widths, such as 5,10,20; by default they double",
    "fan_out": f"children of a node; by default {FAN_OUT}",
}
