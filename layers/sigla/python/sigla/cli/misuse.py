"""How a command says that it was called wrongly, or that it cannot be done."""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sigla.terminal.statuses import MISUSED, NOT_DONE


class Misuse(Exception):
    """Something the caller must change; the message is the whole story, in one sentence.

    place: file and line of what is to be changed, where that is in a file.
    """

    status = MISUSED

    def __init__(self, message: str, place: tuple[str, int] | None = None) -> None:
        super().__init__(message)
        self.place = place


class Refused(Exception):
    """It was asked for properly and cannot be; the message says why, in one sentence."""

    status = NOT_DONE


def check_has_effect(args: argparse.Namespace, without: Mapping[str, str]) -> None:
    """Whether no option was given that does nothing. without: those that have no effect here, and why. Raises Misuse.

    One that has a default is not told from that.
    """
    for name, why in without.items():
        if getattr(args, name) not in (None, "", False, "default"):
            raise Misuse(f"--{name} has no effect here: {why}.")


@contextmanager
def reading_remote() -> Iterator[None]:
    """Around what asks another registry over HTTP. Raises Misuse, Refused."""
    from sigla.remote.failures import NoCredentials, RemoteMisused, RemoteRefused

    try:
        yield
    except RemoteMisused as problem:
        raise Misuse(str(problem)) from None
    except NoCredentials as problem:
        raise Refused(
            f"{problem}: give them with --user NAME; the secret is asked for, or taken from SIGLA_SECRET."
        ) from None
    except RemoteRefused as problem:
        raise Refused(str(problem)) from None
