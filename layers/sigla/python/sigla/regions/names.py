"""What is drawn at random, once, and kept in the role of a region."""

import secrets
import socket


def drawn_name(place: str = "") -> str:
    """By it a person knows which region follows, and its primary that it is the same: a place, and 64 bits."""
    return f"{place or socket.gethostname()}-{secrets.token_hex(8)}"


def drawn_pair() -> str:
    """By it both regions of a registry know that they are of one: `Role.pair`."""
    return secrets.token_hex(8)
