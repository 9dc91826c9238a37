"""The owner's side, which may read the original data: ledger, publications, views, accuracy, simulated attacks."""
