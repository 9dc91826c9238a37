"""The owner's ledger and the releases that it knows: they may tell of the original data, and are never published."""
