"""What the API does with exporters: ask once, decide, commit once, as all verbs of the registry."""
