"""Range-annotated relations: rows whose numbers have two bounds, some of which are only possible, and SQL on them."""
