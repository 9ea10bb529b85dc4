"""The name of a region that follows: by it a person knows which one it is, and its primary that it is the same."""

import secrets
import socket


def drawn_name(place: str = "") -> str:
    """The place, or the host's name, and 64 bits at random: drawn once, and kept in the role of the region."""
    return f"{place or socket.gethostname()}-{secrets.token_hex(8)}"
