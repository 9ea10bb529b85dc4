"""HTTP itself: paths, headers, media types, refusals, the answer's bytes. Knows no schema."""
