"""How callers are recognised in this process: by API keys, and by tokens of the issuers that settings name."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from importlib.util import find_spec
from pathlib import Path

from sigla import observe
from sigla.auth.api_keys import Keys
from sigla.auth.credentials import Authenticator, BasicKeys, reporting
from sigla.auth.tokens.bearer import BearerTokens, KeysAndTokens
from sigla.auth.tokens.issuers import InvalidIssuers, Issuer, read
from sigla.auth.tokens.key_sets import KeySource
from sigla.auth.tokens.published import AT_ONCE, BESIDE, Published
from sigla.auth.uses import KeyUses
from sigla.errors import IssuerSilent
from sigla.settings import AUTO, KEYS, NONE, PREFIX, Address, InvalidSetting, Settings
from sigla.stores.clock import SystemClock
from sigla.web.console.door import Login
from sigla.web.http.guard import is_loopback

ACCESS = {KEYS: "with an API key", NONE: "open: every caller may do everything"}
"""Who may ask, for people."""

WITH_TOKENS = "with an API key, or a token of {issuers}"

NO_KEY_YET = (
    f"{ACCESS[KEYS]}; {{keyless}} has no key yet: `sigla keys create NAME --role admin --data {{data}}` makes the first"
)


class OpenToOthers(Exception):
    """Other machines would reach it, and no setting says who may; the sentence says how to."""


class NowhereForKeys(Exception):
    """Keys are asked for where none can be kept; the sentence says what to change."""


def issuers_of(settings: Settings) -> tuple[Issuer, ...]:
    """Those of the setting, or of the file that it names. Raises InvalidSetting."""
    text = settings.issuers.strip()
    if not text:
        return ()
    try:
        issuers = read(text if text.startswith("[") else Path(text).read_text("utf-8"))
    except OSError as failure:
        raise InvalidSetting(f"{PREFIX}ISSUERS: {text} cannot be read ({failure.strerror}).") from None
    except UnicodeDecodeError:
        raise InvalidSetting(f"{PREFIX}ISSUERS: {text} is not JSON: it is not UTF-8.") from None
    except InvalidIssuers as problem:
        raise InvalidSetting(f"{PREFIX}ISSUERS: {problem}") from None
    for library in ("jwt", "cryptography"):
        if find_spec(library) is None:
            raise InvalidSetting(f"{PREFIX}ISSUERS needs {library}: pip install 'sigla-registry[tokens]'.")
    return issuers


def console_logins(settings: Settings) -> tuple[Login, ...]:
    """Where people may sign in to the console. Raises InvalidSetting."""
    return tuple(
        Login(each.issuer, each.console.client, each.console.scope) for each in issuers_of(settings) if each.console
    )


def published_keys() -> KeySource:
    """Where `sigla serve` reads the keys of issuers."""
    from sigla.remote.issuer_keys import IssuerKeys

    return IssuerKeys(SystemClock())


def bearer_tokens(
    issuers: Sequence[Issuer],
    tell: observe.Teller,
    source: Callable[[], KeySource] | None = None,
    *,
    waits: bool = True,
) -> BearerTokens | None:
    """None without issuers. source: of their keys; None: where they publish them.

    waits: whether others are served while one token waits for its issuer's keys.
    """
    if not issuers:
        return None

    def silent(issuer: Issuer, why: IssuerSilent) -> None:
        message = f"The keys of the issuer {issuer.issuer} cannot be read: {why}."
        tell({"event": "issuer-silent", "issuer": issuer.issuer, "message": message})

    clock, place, manner = SystemClock(), (source or published_keys)(), BESIDE if waits else AT_ONCE
    known = {each.issuer: Published(each, place, clock, manner, tell=silent) for each in issuers}
    return BearerTokens(issuers, known, clock, waits=waits)


def authenticator(
    auth: str,
    keys: Keys,
    tell: observe.Teller,
    opened: ExitStack,
    tokens: BearerTokens | None = None,
    *,
    aside: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Authenticator | None:
    """None where everybody may do everything. opened: takes what is to be closed at the end.

    aside: as `KeyUses` has it.
    """
    if auth == NONE:
        return None
    uses = opened.enter_context(closing(KeyUses(keys, SystemClock(), tell, aside=aside)))
    by_key = BasicKeys(keys, SystemClock(), reporting(tell), used=uses)
    return KeysAndTokens(by_key, tokens) if tokens else by_key


def access_words(auth: str, issuers: Sequence[Issuer], *, has_keys: bool, data: str, keyless: str = "") -> str:
    """Who may ask, for people. data: the directory, as a shell wants it. keyless: which of several has no key yet."""
    if issuers:
        return WITH_TOKENS.format(issuers=" or ".join(each.issuer for each in issuers))
    return ACCESS[auth] if auth == NONE or has_keys else NO_KEY_YET.format(data=data, keyless=keyless or "it")


def check_keys(auth: str, address: Address, issuers: Sequence[Issuer]) -> None:
    """Raises NowhereForKeys where no caller could ever show a key."""
    if auth == KEYS and address.scheme == "memory" and not issuers:
        raise NowhereForKeys("API keys are kept with the data: give it a directory with --data.")


def local_auth(auth: str, host: str) -> str:
    """What AUTO means where `sigla serve` listens. Raises OpenToOthers."""
    if auth != AUTO:
        return auth
    if is_loopback(host):
        return NONE
    raise OpenToOthers(
        f"Everybody who reaches {host or 'this machine'} could change everything: make a key with `sigla keys "
        f"create NAME` and start with --auth, or leave it open with {PREFIX}AUTH={NONE}."
    )


def function_auth(settings: Settings) -> str:
    """What AUTO means where a Lambda function answers."""
    return KEYS if settings.auth == AUTO else settings.auth


def openness(where: str) -> observe.Facts:
    """Told once per start: no operator should learn it too late."""
    told = f"No key is asked for: whoever reaches {where} may do everything ({PREFIX}AUTH={NONE})."
    return {"event": "open", "message": told}
