"""Pages for a person's browser."""
