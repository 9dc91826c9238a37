"""Answers to analysts' queries on releases."""
