"""A server that speaks PostgreSQL's protocol, for tools that have a driver for PostgreSQL alone (docs/tools.md)."""
