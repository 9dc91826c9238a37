"""The window: a local web application that is a client of the Python interface. No privacy logic and no SQL is here."""
