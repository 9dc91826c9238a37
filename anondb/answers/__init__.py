"""Possible worlds of sealed files: complete tables, with the names and columns of the original, that the files permit."""
