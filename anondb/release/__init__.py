"""Freezing, publishing and the ledger of releases."""
