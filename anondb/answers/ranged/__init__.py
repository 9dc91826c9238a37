"""Range-annotated relations: rows whose numbers have an estimate and two bounds, and SQL on them."""
