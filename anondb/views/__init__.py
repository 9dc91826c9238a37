"""Anonymized views: their statements, scripts and files of policies, their parts, and whether they are up to date."""
