"""What keeps a registry: import and export, the scrub, and what mends what it finds."""
