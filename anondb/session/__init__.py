"""The analyst's session on releases: SQL, written for the original tables, with bounds beside each number."""
