"""The HTTP edge: a request comes in, one verb is asked, its answer goes out. Nothing here decides about schemas."""
