"""The analyst's session on sealed files: SQL, written for the original tables, with bounds beside each number."""
