"""Associations: which topic uses which subject, and which subject belongs to a topic alone (docs/api.md, §12)."""
