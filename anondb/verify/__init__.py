"""Re-derives each promise from its definition; shares no code and no SQL with the algorithms."""
