"""What is told to systemd, or to another supervisor that knows its protocol (`sd_notify`): a datagram for each news."""

import socket
from collections.abc import Callable
from contextlib import suppress

READY, STOPPING = "READY=1", "STOPPING=1"


def telling(address: str) -> Callable[[str], None]:
    """address: of the supervisor's socket, as `NOTIFY_SOCKET` has it; where it is empty nothing is told."""

    def tell(news: str) -> None:
        if not address:
            return
        # A registry serves also where its supervisor does not listen.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connected:
            connected.connect("\0" + address[1:] if address.startswith("@") else address)
            connected.send(news.encode())

    return tell
