"""One file for each published algorithm, readable beside its pseudo-code."""
