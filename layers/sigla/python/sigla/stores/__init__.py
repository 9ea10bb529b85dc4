"""Where things are kept: a room for each kind of store, and what stands in front of them."""
