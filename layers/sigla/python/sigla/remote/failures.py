"""Why another registry is not read."""


class RemoteMisused(Exception):
    """The caller must change something, such as the URL; the message is the whole story, in one sentence."""


class NoRegistry(RemoteMisused):
    """Something else answers, or a proxy in the place of a registry that has not started yet."""


class NoSuchPage(NoRegistry):
    """The server answers, and has nothing under that path."""


class RemoteRefused(Exception):
    """It was asked for properly, and the registry does not give it; the message says why, in one sentence."""


class RemoteAway(RemoteRefused):
    """It does not answer, or not now, as while it starts."""


class WrittenMeanwhile(RemoteRefused):
    """What it answered before and what it answers now do not fit together."""


class RemoteTooLong(RemoteRefused):
    """It answers with more than is read of one answer."""


class Withheld(RemoteRefused):
    """The registry cannot give it, since a key service does not unwrap it there."""


class NoCredentials(RemoteRefused):
    """The registry asks for credentials, and none were sent; the message is a sentence without its end."""
