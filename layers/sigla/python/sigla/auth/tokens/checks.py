"""What a token must be before its signature is looked at, a row for each thing that can be wrong with it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sigla.auth.tokens.issuers import Issuer
from sigla.auth.tokens.key_sets import ALGORITHMS
from sigla.auth.tokens.presented import Presented, TokenRefused

LEEWAY_S: Final = 30
"""By so much two clocks may differ."""

LAST_S: Final = 253_402_300_800
"""The end of the year 9999."""

TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""RFC 9068 has the last two, which are one; in any case."""

WHO: Final = ("sub", "client_id", "azp")
"""The first of these claims that is there names the principal. Some issuers name machines by the others alone."""

LONGEST_NAME: Final = 255
"""Characters, as OpenID Connect says of `sub`."""

Header = Mapping[str, Any]
Check = Callable[[Header], str]
"""What is wrong, as a sentence; empty where nothing is."""


def _algorithm(header: Header) -> str:
    alg = header.get("alg")
    return "" if isinstance(alg, str) and alg in ALGORITHMS else f"Its alg is {alg!r}; accepted are {_accepted()}."


def _critical(header: Header) -> str:
    return "Its header has crit, and no extension is known here." if "crit" in header else ""


def _type(header: Header) -> str:
    typ = header.get("typ", "JWT")
    return "" if isinstance(typ, str) and typ.lower() in TYPES else f"Its typ is {typ!r}; it must be JWT or at+jwt."


def _key_id(header: Header) -> str:
    kid = header.get("kid")
    return "" if isinstance(kid, str) and kid else "Its header has no kid, which names the key that signed it."


HEADER_CHECKS: Final[tuple[Check, ...]] = (_algorithm, _critical, _type, _key_id)
"""`jku`, `x5u`, `x5c` and `jwk` are not looked at: a token does not say by which key it is to be believed."""


def _accepted() -> str:
    return ", ".join(ALGORITHMS)


def claimed_issuer(presented: Presented, issuers: Mapping[str, Issuer], now_ms: int) -> Issuer:
    """The issuer that the token names, where all but the signature holds. Raises TokenRefused."""
    for is_wrong in HEADER_CHECKS:
        if wrong := is_wrong(presented.header):
            raise TokenRefused(wrong)
    claims = presented.claims
    iss = claims.get("iss")
    issuer = issuers.get(iss) if isinstance(iss, str) else None
    if issuer is None:
        raise TokenRefused(f"Its iss is {iss!r}; known are {', '.join(issuers)}.")
    _check_audience(claims.get("aud"), issuer)
    _check_times(claims, now_ms / 1000)
    if not who(claims):
        raise TokenRefused(
            f"It names no principal: the first of {', '.join(WHO)} must be a text of up to {LONGEST_NAME} characters."
        )
    return issuer


def _check_audience(aud: object, issuer: Issuer) -> None:
    audiences = aud if isinstance(aud, list) else [aud]
    if not all(isinstance(each, str) for each in audiences) or not set(audiences) & set(issuer.audiences):
        raise TokenRefused(f"Its aud is {aud!r}; it must be {' or '.join(issuer.audiences)}.")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    if "exp" not in claims:
        raise TokenRefused("It has no exp: a token must end some time.")
    for name in ("exp", "nbf", "iat"):
        if name in claims and not _is_moment(claims[name]):
            raise TokenRefused(f"Its {name} is {claims[name]!r}; it must be a number of seconds since 1970.")
    if now >= claims["exp"] + LEEWAY_S:
        raise TokenRefused(f"It expired {now - claims['exp']:.0f} seconds ago.")
    for name in ("nbf", "iat"):
        if name in claims and now + LEEWAY_S < claims[name]:
            raise TokenRefused(f"Its {name} is {claims[name] - now:.0f} seconds from now.")


def _is_moment(value: object) -> bool:
    """Neither NaN nor infinite, and small enough to be added to."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LAST_S < value < LAST_S


def who(claims: Mapping[str, object]) -> str:
    """Who it is for its issuer; empty where it does not say so, or says what cannot be a name.

    Then the next claim does not count: a person whose `sub` is too long would be written down as the client.
    """
    said = next((claims[name] for name in WHO if claims.get(name) is not None), "")
    return said if isinstance(said, str) and _is_name(said) else ""


def _is_name(text: str) -> bool:
    """It stands in logs: no control characters, no half of a character."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable()
