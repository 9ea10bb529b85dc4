"""A key service that takes a call and says nothing holds up the one client that needs it."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.protocol.clients.server import serving

KEKS = "/dek-registry/v1/keks"
KEK = {
    "name": "k",
    "kmsType": "aws-kms",
    "kmsKeyId": "arn:aws:kms:eu-west-1:111122223333:key/0a1b",
    "kmsProps": {"access.key.id": "AKIDOWN", "secret.access.key": "own"},
    "shared": True,
}


@pytest.mark.process
def test_others_write_and_read_while_a_key_service_is_silent() -> None:
    """There is one thread that writes: if it waited for AWS, every producer would."""
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        serving(settings={"AWS_ENDPOINT_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}) as server,
        ThreadPoolExecutor(2) as clients,
    ):
        assert server.ask("POST", KEKS, KEK).status == 200
        waiting = clients.submit(server.ask, "POST", f"{KEKS}/k/deks/orders", {})
        asked, _ = silent.accept()  # now AWS has the question
        with asked:
            assert server.ask("POST", "/subjects/s/versions", {"schema": '"int"'}).status == 200
            assert server.ask("GET", "/subjects/s/versions/1").status == 200
            assert server.ask("GET", f"{KEKS}/k").status == 200
            assert not waiting.done()
        silent.close()
        answer = waiting.result()
        assert (answer.status, answer.json["error_code"]) == (500, 50070)
        assert "AWS KMS did not answer Encrypt" in answer.json["message"]
        assert server.ask("GET", f"{KEKS}/k/deks/orders/versions").json == []
