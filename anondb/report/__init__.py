"""Reports on one release: for its owner, and for analysts."""
