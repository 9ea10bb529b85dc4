"""What the verbs need of the world, in our words: a file for each port.

The comments are part of the promise: `tests/contract/` holds every adapter to them.
"""
