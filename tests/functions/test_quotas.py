"""The function as it is deployed, with a quota of versions: all instances together, and data that is its own."""

import os
from contextlib import closing

import pytest

from sigla import cli
from sigla.aws.clients import Clients
from tests.contract.engines import BUCKET
from tests.functions.deployed import Client, deployed

IDENTITY = "0123456789abcdef" * 2


def schema(name: str) -> dict[str, str]:
    return {"schema": f'{{"type":"fixed","name":"{name}","size":4}}'}


def test_every_instance_counts_what_the_others_register(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is there stays usable: a full registry must stop no producer that starts."""
    with deployed(monkeypatch, SIGLA_QUOTA_VERSIONS="2") as deployment:
        one, other = (Client(deployment.instance()) for _ in range(2))
        assert one("POST", "/subjects/a/versions", schema("A")).status == 200
        assert other("POST", "/subjects/b/versions", schema("B")).status == 200
        refused = one("POST", "/subjects/c/versions", schema("C"))
        assert (refused.status, refused.code) == (429, 429)
        assert refused.body["message"].startswith("The registry may hold 2 versions, and has no room for more")
        assert refused.headers["retry-after"] == "60"
        assert other("POST", "/subjects/a/versions", schema("A")).status == 200
        assert one.get("/subjects/b/versions/latest").status == 200


def test_nothing_is_counted_in_the_data_of_another_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that was put in the place of another one by mistake has no new row afterwards."""
    with deployed(monkeypatch, SIGLA_QUOTA_VERSIONS="2", SIGLA_IDENTITY=IDENTITY) as deployment:
        client = Client(deployment.instance())
        assert client("POST", "/subjects/a/versions", schema("A")).status >= 500
        table = os.environ["SIGLA_TABLE"]
        with closing(Clients()) as clients:
            assert not clients.dynamodb.scan(TableName=table)["Items"]
        claim = ["init", "--bucket", BUCKET, "--table", table, "--identity", IDENTITY, "--i-mean-it"]
        assert cli.main(claim) == 0
        assert Client(deployment.instance())("POST", "/subjects/a/versions", schema("A")).status == 200
