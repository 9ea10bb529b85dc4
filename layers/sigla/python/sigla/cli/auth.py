"""`sigla auth explain`: what a bearer token would be for a registry, and if nothing, why not."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sigla.cli.misuse import Misuse, Refused
from sigla.terminal.arguments import name_argument

if TYPE_CHECKING:
    from sigla.auth.tokens.bearer import Verified
    from sigla.auth.tokens.issuers import Row

DESCRIPTION = """\
Bearer tokens, which a registry accepts of the issuers that SIGLA_ISSUERS names (docs/security.md).
"""

EXPLAINS = """\
Says what a token would be for a registry with these issuers: who, with which role, for which subjects, by which row of
the map. The issuer is asked for its keys, as the registry does. It ends with 0 where the token would be accepted and is
good for something, else with 1, and the reason is told. Others on this machine can see a token that is an argument;
- reads it from standard input.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("auth", help="bearer tokens: what one would be", description=DESCRIPTION)
    actions = parser.add_subparsers(dest="action", title="actions", metavar="ACTION", required=True)
    explained = actions.add_parser(
        "explain",
        help="what a token would be, or why it is refused",
        description=EXPLAINS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    explained.add_argument("token", metavar="TOKEN", help="the token, or - for standard input")
    explained.add_argument(
        "--issuers",
        type=name_argument,
        metavar="FILE",
        help="the issuers, as SIGLA_ISSUERS has them: a file or a JSON list",
    )
    explained.add_argument(
        "--registry",
        type=name_argument,
        metavar="NAME",
        help="the registry that it would be shown to, where there are several",
    )
    explained.set_defaults(run=explain)


def explain(args: argparse.Namespace) -> int:
    """Raises Misuse, Refused."""
    from sigla import wiring
    from sigla.auth.tokens.presented import TokenRefused
    from sigla.errors import IssuerSilent
    from sigla.settings import InvalidSetting

    try:
        verified = wiring.explaining(args.issuers or "", args.registry or "").verified(_token(args.token))
    except InvalidSetting as problem:
        raise Misuse(str(problem)) from None
    except IssuerSilent as silence:
        raise Refused(f"The keys of its issuer cannot be read: {silence}.") from None
    except TokenRefused as refused:
        raise Refused(f"The token is refused (401). {refused}") from None
    for name, value in _facts(verified):
        print(f"{name:10}{value}")
    return int(verified.row is None)


def _token(given: str) -> bytes:
    """As it is copied: with blanks around it, perhaps with its scheme."""
    text = sys.stdin.read() if given == "-" else given
    words = text.split()
    if len(words) == 2 and words[0].lower() == "bearer":
        words = words[1:]
    return "".join(words).encode("utf-8", "surrogateescape")


def _facts(verified: "Verified") -> Iterator[tuple[str, str]]:
    claims, header = verified.presented.claims, verified.presented.header
    yield "issuer", verified.issuer.issuer
    yield "principal", verified.principal.name
    yield "signed", f"{header['alg']} by the key {header['kid']}"
    yield "until", datetime.fromtimestamp(claims["exp"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if verified.row and verified.at is not None:
        yield "is", _good_for(verified.row)
        yield "by", f"row {verified.at + 1} of the map: {_conditions(verified.row)}"
        if verified.row.registries:
            yield "in", " ".join(verified.row.registries)
        return
    yield "is", "good for nothing (403): no row of the map holds"
    for at, row in enumerate(verified.issuer.map, 1):
        yield f"row {at}", f"{_conditions(row)}; {_unmet(row, claims)}"


def _good_for(row: "Row") -> str:
    role = f"{row.role}, delete," if row.deletes else row.role
    return f"{role} of {' '.join(row.subjects) or 'all subjects'}"


def _conditions(row: "Row") -> str:
    return ", ".join(f"{name} {wanted}" for name, wanted in row.when.items())


def _unmet(row: "Row", claims: Mapping[str, object]) -> str:
    name = row.unmet(claims)
    if not name:
        return f"it is of {' '.join(row.registries)}"
    return f"{name} is {claims[name]!r}" if name in claims else f"{name} is missing"
