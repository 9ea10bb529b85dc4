"""A registry in one file, and the way back: `contents` and `archive` know the file, `making` and `restoring` stores."""
