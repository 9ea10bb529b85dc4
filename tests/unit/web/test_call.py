"""What a request says of itself before its route is known."""

import pytest

from sigla.web.api.call import Call


@pytest.mark.parametrize(
    "client, forwarded, asker",
    [
        ("192.0.2.7", [], "192.0.2.7"),
        ("127.0.0.1", [b"198.51.100.1, 192.0.2.9"], "192.0.2.9"),
        ("127.0.0.1", [b"198.51.100.1", b"192.0.2.9"], "192.0.2.9"),
        ("192.0.2.7", [b"192.0.2.9"], "192.0.2.7"),
    ],
)
def test_a_proxy_on_this_machine_is_believed_for_whom_it_asks(client: str, forwarded: list[bytes], asker: str) -> None:
    """Else all who come through it would share one turn; from elsewhere any client could say anything.

    A proxy may leave what the client has said, and add a line of its own: by that no client hides its address.
    """
    headers = [(b"x-forwarded-for", each) for each in forwarded]
    scope = {"method": "GET", "raw_path": b"/", "query_string": b"", "headers": headers, "client": (client, 1)}
    assert Call(scope).asker == asker
