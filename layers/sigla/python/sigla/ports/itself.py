"""What a registry knows of itself, by which it finds itself at an address of the network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


def no_mark() -> str:
    """That of a registry that knows itself nowhere."""
    return ""


def nowhere(_: Mapping[str, str]) -> bool:
    """Where nothing is asked over a network."""
    return False


@dataclass(frozen=True, slots=True)
class Itself:
    """name: as an exporter of `AUTO` calls it. mark: the same wherever the registry answers, and told to no client.

    answers_at: whether it is what answers where the settings of an exporter lead to, the secret ones among them. False
    where that is not known after a few seconds.
    """

    name: str = "default"
    mark: Callable[[], str] = no_mark
    answers_at: Callable[[Mapping[str, str]], bool] = nowhere
