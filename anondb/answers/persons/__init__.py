"""Queries over the rows of single persons: their reading as an algebra of persons' rows, and as plans."""
