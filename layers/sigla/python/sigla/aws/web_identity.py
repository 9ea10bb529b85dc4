"""Tokens by which a role shows to others than AWS who it is (`sts:GetWebIdentityToken`).

The account must have switched them on (`aws iam enable-outbound-web-identity-federation`), and the role must be allowed
to ask. The operation is there in a region alone, not at STS's global endpoint.
"""

from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

import boto3

from sigla.ports.clock import Clock, Moment

RENEWED: Final = 0.8
"""After this share of its life a token is asked for anew."""


@dataclass(frozen=True, slots=True)
class _Token:
    token: str
    since: Moment


_lock = Lock()
_tokens: dict[tuple[str, int, str, str], _Token] = {}
_clients: dict[str, Any] = {}


def web_identity_token(clock: Clock, audience: str, *, seconds: int, algorithm: str, region: str = "") -> str:
    """A token of the caller's role, the same one for most of its life. Any thread may ask. Raises what boto3 raises."""
    asked = (audience, seconds, algorithm, region)
    with _lock:
        known = _tokens.get(asked)
        if known is None or not known.since.is_younger(int(1000 * RENEWED * seconds), clock):
            known = _tokens[asked] = _ask(clock, *asked)
        return known.token


def _ask(clock: Clock, audience: str, seconds: int, algorithm: str, region: str) -> _Token:
    if region not in _clients:
        _clients[region] = boto3.client("sts", region_name=region or None)
    since = Moment.of(clock)
    answer = _clients[region].get_web_identity_token(
        Audience=[audience], DurationSeconds=seconds, SigningAlgorithm=algorithm
    )
    return _Token(answer["WebIdentityToken"], since)
