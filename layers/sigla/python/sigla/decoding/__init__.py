"""A record: its frame and its value by the schema that wrote it. Bytes in, values out: no store and no Arrow."""
