"""What a release is worth and what it reveals, measured with the original data: accuracy, attacks, inversion, causes."""
