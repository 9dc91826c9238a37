"""Publish releases, and compare each publication with earlier ones of the same persons."""
