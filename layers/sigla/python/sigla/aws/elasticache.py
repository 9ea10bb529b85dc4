"""The password of an ElastiCache user who is authenticated by IAM: a signed request, made here, sent nowhere.

Source: https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/auth-iam.html
"""

from urllib.parse import urlencode

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from botocore.session import Session

LASTS_S = 900
"""How long a new connection may be authenticated by it; those that are open go on for twelve hours."""


class Tokens:
    """Makes a token whenever it is called, in a fraction of a millisecond.

    It signs with the credentials of the moment: those of a function are renewed in its environment.
    """

    def __init__(self, session: Session, *, region: str | None = None) -> None:
        self._session = session
        self._region = region

    def __call__(self, user: str, group: str) -> str:
        """group: the replication group's id. Raises PermissionError where there is nothing to sign with."""
        try:
            credentials = self._session.get_credentials()
            region = self._region or self._session.get_config_variable("region")
        except BotoCoreError as failure:
            raise PermissionError(f"found no credentials to sign with: {failure}") from failure
        if credentials is None or not region:
            raise PermissionError("found no credentials, or no region, to sign with")
        query = urlencode({"Action": "connect", "User": user})
        request = AWSRequest(method="GET", url=f"https://{group.lower()}/?{query}")
        SigV4QueryAuth(credentials.get_frozen_credentials(), "elasticache", region, expires=LASTS_S).add_auth(request)
        return str(request.url).removeprefix("https://")
