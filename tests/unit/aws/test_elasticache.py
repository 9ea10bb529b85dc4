"""The token by which ElastiCache knows who connects, held to the documented form and to both ways of signing."""

import hashlib
import hmac
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlencode, urlsplit

import botocore.auth
import botocore.session
import pytest
from botocore.model import ServiceId
from botocore.signers import RequestSigner

from sigla.aws.elasticache import Tokens

REGION = "eu-central-1"
USER, GROUP = "sigla-use1-az1", "Ring-A"
KEY, SECRET, SESSION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "a session/token=="


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> botocore.session.Session:
    """The session of a function: its credentials are temporary."""
    made = botocore.session.Session()
    made.set_credentials(KEY, SECRET, SESSION)
    made.set_config_variable("region", REGION)
    now = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_args, **_options: now)
    return made


def test_a_token_is_a_signed_request_without_its_scheme(session: botocore.session.Session) -> None:
    """For one user and one replication group, whose name stands there in small letters, for a quarter of an hour."""
    token = Tokens(session)(USER, GROUP)
    parts = urlsplit("//" + token)
    assert not token.startswith("http")
    assert (parts.netloc, parts.path) == ("ring-a", "/")
    query = dict(parse_qsl(parts.query))
    assert len(query.pop("X-Amz-Signature")) == 64
    assert query == {
        "Action": "connect",
        "User": USER,
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": f"{KEY}/20261121/{REGION}/elasticache/aws4_request",
        "X-Amz-Date": "20261121T123000Z",
        "X-Amz-Expires": "900",
        "X-Amz-Security-Token": SESSION,
        "X-Amz-SignedHeaders": "host",
    }


def test_its_signature_is_that_of_signature_version_4(session: botocore.session.Session) -> None:
    """Worked out by hand, as ElastiCache does."""
    parts = urlsplit("//" + Tokens(session)(USER, GROUP))
    query = dict(parse_qsl(parts.query))
    signature = query.pop("X-Amz-Signature")
    sorted_query = urlencode(sorted(query.items())).replace("+", "%20")
    request = "\n".join(["GET", "/", sorted_query, "host:ring-a", "", "host", hashlib.sha256(b"").hexdigest()])
    scope = f"20261121/{REGION}/elasticache/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", query["X-Amz-Date"], scope, hashlib.sha256(request.encode()).hexdigest()])
    key = b"AWS4" + SECRET.encode()
    for each in (*scope.split("/"), to_sign):
        key = hmac.new(key, each.encode(), hashlib.sha256).digest()
    assert signature == key.hex()


def test_it_is_what_botocores_signer_of_requests_makes(session: botocore.session.Session) -> None:
    """Which is how ElastiCache's own guide does it."""
    events = session.get_component("event_emitter")
    signer = RequestSigner(ServiceId("elasticache"), REGION, "elasticache", "v4", session.get_credentials(), events)
    url = f"https://ring-a/?{urlencode({'Action': 'connect', 'User': USER})}"
    request = {"method": "GET", "url": url, "body": {}, "headers": {}, "context": {}}
    signed = signer.generate_presigned_url(request, operation_name="connect", expires_in=900, region_name=REGION)
    assert Tokens(session)(USER, GROUP) == signed.removeprefix("https://")


def test_the_region_may_be_said(session: botocore.session.Session) -> None:
    """Where the environment shall not decide."""
    assert "%2Fus-west-2%2Felasticache%2F" in Tokens(session, region="us-west-2")(USER, GROUP)


def test_without_credentials_there_is_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that a member takes for a failure: the body is read from S3."""
    session = botocore.session.Session()
    monkeypatch.setattr(session, "get_credentials", lambda: None)
    with pytest.raises(PermissionError, match="no credentials"):
        Tokens(session, region=REGION)(USER, GROUP)


def test_a_profile_that_is_not_there_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever botocore has to say about credentials is said in the same way."""
    monkeypatch.setenv("AWS_PROFILE", "nobody's")
    with pytest.raises(PermissionError, match="nobody's"):
        Tokens(botocore.session.Session(), region=REGION)(USER, GROUP)


def test_without_a_region_there_is_no_token(session: botocore.session.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is signed for one."""
    monkeypatch.setattr(session, "get_config_variable", lambda _name: None)
    with pytest.raises(PermissionError, match="no region"):
        Tokens(session)(USER, GROUP)
