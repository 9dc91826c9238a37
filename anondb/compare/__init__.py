"""Compare algorithms and parameters on the same data: plan the runs, limit and run them, store and report the results."""
