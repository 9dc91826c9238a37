"""Several algorithms and parameters on the same data, side by side: what runs, its limits, its results, its report."""
