"""What people are told of API keys: what each is good for, and its use; never what it is verified by."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from sigla.auth.api_keys import ApiKey, DamagedKey, Keys, read_key
from sigla.auth.permissions import DELETE
from sigla.ports.clock import day_of


@dataclass(frozen=True, slots=True)
class ListedKeys:
    """keys: by name. damaged: what is kept under a name and opens nothing. noted: days of last uses, by name."""

    keys: tuple[ApiKey, ...]
    damaged: Mapping[str, DamagedKey]
    noted: Mapping[str, str]

    def used(self, key: ApiKey) -> str:
        """The day of the last use; empty without one. A note may be of a key of its name that was revoked."""
        day = self.noted.get(key.name, "")
        return day if day >= day_of(key.created) else ""

    def administrators(self, now: int) -> list[str]:
        """The names of keys that open now and administer everything."""
        return [key.name for key in self.keys if is_open(key, now) and key.principal.administers_everything]


def listed_keys(keys: Keys, *, revoked: bool = False) -> ListedKeys:
    """revoked: also those that were revoked. Raises StoreError."""
    with ThreadPoolExecutor(1, thread_name_prefix="key-uses") as beside:  # one round of questions less in a bucket
        uses = beside.submit(keys.last_uses)
        records = list(keys.list())
        noted = uses.result()
    found: list[ApiKey] = []
    damaged: dict[str, DamagedKey] = {}
    for name, record in records:
        try:
            key = read_key(name, record)
        except DamagedKey as damage:
            damaged[name] = damage
        else:
            if revoked or key.revoked is None:
                found.append(key)
    return ListedKeys(tuple(found), damaged, noted)


def is_open(key: ApiKey, now: int) -> bool:
    """Whether its newest secret opens the registry."""
    return key.revoked is None and now < key.until


def key_facts(key: ApiKey) -> Mapping[str, object]:
    """Tells programs what a key is, as JSON. Times are milliseconds since the epoch."""
    return {
        "role": key.role,
        "delete": DELETE in key.principal.may,
        "subjects": list(key.subjects),
        "created": key.created,
        "expires": key.expires,
        "former": [each.until for each in key.secrets[1:]],
        "by": key.by or None,
        **({"revoked": asdict(key.revoked)} if key.revoked else {}),
    }
