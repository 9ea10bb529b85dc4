"""Who are you (`credentials`), and may you (`permissions`)? Asked at every front door, before a verb is."""
