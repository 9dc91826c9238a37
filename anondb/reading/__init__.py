"""From a file to rows of texts: its format, its dialect, and the account of every row of it."""
