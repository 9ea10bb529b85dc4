"""How a command says that it was called wrongly, or that it cannot be done."""


class Misuse(Exception):
    """Something the caller must change; the message is the whole story, in one sentence."""

    status = 2


class Refused(Exception):
    """It was asked for properly and cannot be; the message says why, in one sentence."""

    status = 1
