"""Help for owners before a release: a profile of the data, and advice on promise, parameters and algorithm."""
