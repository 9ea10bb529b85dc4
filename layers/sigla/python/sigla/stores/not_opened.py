"""Why data cannot be opened, in a sentence for a person."""


class DataNotOpened(Exception):
    """Another process has it, a newer release wrote it, its catalog is gone, or it is another registry's.

    The sentence says which.
    """


class NoRegistry(DataNotOpened):
    """The directory does not have a registry yet."""
