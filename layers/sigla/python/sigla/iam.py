"""Roles of AWS as clients of a registry: tokens of IAM for Confluent's Python client, without secrets to keep.

`sts:GetWebIdentityToken` gives any role a signed token whose `sub` is the ARN of the role. For

    SchemaRegistryClient({
        "url": "https://…",
        "bearer.auth.credentials.source": "CUSTOM",
        "bearer.auth.custom.provider.function": sigla.iam.bearer,
        "bearer.auth.custom.provider.config": {"audience": "sigla"},
    })
"""

from collections.abc import Mapping
from typing import Any

from sigla.aws.web_identity import web_identity_token
from sigla.stores.clock import SystemClock

__all__ = ["bearer"]


def bearer(config: Mapping[str, Any]) -> dict[str, str]:
    """What the client sends: a token that is asked for anew when four fifths of its life are over.

    config: `audience`, as the registry's issuers have it. It may have `seconds`, how long a token lasts (60 to 3,600,
    by default 900), `algorithm` (ES384 or RS256), `region`, and `cluster` and `pool`, which the client sends beside the
    token and which are of no meaning here. Raises ValueError for other names, and what boto3 raises.
    """
    known = {"audience", "seconds", "algorithm", "region", "cluster", "pool"}
    if unknown := sorted(config.keys() - known):
        raise ValueError(f"Unknown setting {', '.join(unknown)}. Valid settings: {', '.join(sorted(known))}.")
    if not config.get("audience"):
        raise ValueError("The setting audience is missing: it must be the audience that the registry expects.")
    token = web_identity_token(
        SystemClock(),
        str(config["audience"]),
        seconds=int(config.get("seconds", 900)),
        algorithm=str(config.get("algorithm", "ES384")),
        region=str(config.get("region", "")),
    )
    return {
        "bearer.auth.token": token,
        "bearer.auth.logical.cluster": str(config.get("cluster", "default")),
        "bearer.auth.identity.pool.id": str(config.get("pool", "default")),
    }
