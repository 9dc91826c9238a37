"""The steps that turn a policy into a verified release, here or inside a warehouse, and the report on them."""
