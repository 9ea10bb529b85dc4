"""Bodies kept near: presence may be remembered, absence never."""
