"""Another registry over HTTP: what can be asked of it, and what its answers come to."""
