"""What systemd, or another supervisor that knows its protocols, is told and hands over.

It is told by a datagram for each news (`sd_notify`). It hands over sockets on which clients may wait already
(`sd_listen_fds`): the supervisor keeps them open while one release ends and the next one starts, so nothing is refused.
"""

import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress

READY, STOPPING = "READY=1", "STOPPING=1"

FIRST_SOCKET = 3
"""The descriptor of the first one; the others follow."""

TCP = (socket.AF_INET, socket.AF_INET6)


class NoTcpSocket(OSError):
    """A socket that is handed over is of another kind; the message is a sentence."""


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


def handed_over(environment: Mapping[str, str]) -> list[socket.socket]:
    """The sockets that this process was given; none where `LISTEN_PID` names another one. Raises NoTcpSocket.

    A command that starts us may have been given some as well: those are not ours.
    """
    if environment.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = environment.get("LISTEN_FDS", "")
    given = range(FIRST_SOCKET, FIRST_SOCKET + int(count)) if count.isascii() and count.isdecimal() else ()
    sockets = [socket.socket(fileno=descriptor) for descriptor in given]
    for each in sockets:
        each.set_inheritable(False)
    if not all(each.family in TCP and each.type == socket.SOCK_STREAM for each in sockets):
        for each in sockets:
            each.close()
        raise NoTcpSocket("The supervisor hands over a socket that is not of TCP: write ListenStream=ADDRESS:PORT.")
    return sockets
