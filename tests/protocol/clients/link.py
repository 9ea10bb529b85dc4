"""A link between two servers that a test cuts in one direction, in both, or makes slow: real sockets, byte for byte.

What is under way while it is cut arrives once it is whole again, as TCP has it: late, and perhaps after whoever sent it
has given up.
"""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Self

PIECE: Final = 2**16
THERE, BACK = "there", "back"
"""From who connects to whom it connects to, and from that."""


class Link:
    """Between whoever connects to `url` and the server at a port of this machine.

    slow_s: what each piece takes on its way. on_piece: is told of each before it goes on.
    """

    def __init__(self, port: int, *, on_piece: Callable[[], object] = lambda: None) -> None:
        self._port = port
        self._on_piece = on_piece
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._changed = threading.Condition()
        self._cut: set[str] = set()
        self._over = False
        self._sockets: set[socket.socket] = set()
        self.slow_s = 0.0

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()
            for each in (self._listening, *self._sockets):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()

    def cut(self, *directions: str) -> None:
        """None of them: it is whole again."""
        with self._changed:
            self._cut = set(directions)
            self._changed.notify_all()

    def _accept(self) -> None:
        while not self._over:
            with suppress(OSError):
                client, _ = self._listening.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._port), 5)
            server.settimeout(None)
        except OSError:
            client.close()
            return
        with self._changed:
            self._sockets |= {client, server}
        for ends in ((client, server, THERE), (server, client, BACK)):
            threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, sender: socket.socket, receiver: socket.socket, direction: str) -> None:
        with suppress(OSError):
            while piece := sender.recv(PIECE):
                self._on_piece()
                with self._changed:
                    self._changed.wait(self.slow_s)
                    self._changed.wait_for(lambda: direction not in self._cut or self._over)
                receiver.sendall(piece)
        with suppress(OSError):
            receiver.shutdown(socket.SHUT_WR)
