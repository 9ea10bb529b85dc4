"""How a command says that it was called wrongly."""


class Misuse(Exception):  # noqa: N818 - names what happened
    """Something the caller must change; the message is the whole story, in one sentence."""
