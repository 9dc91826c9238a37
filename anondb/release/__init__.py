"""Release files: freezing, sealing, reading, and the checks of a sealed file."""
