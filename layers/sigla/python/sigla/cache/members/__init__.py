"""The members that a ring may have; `cache/member.py` says what they promise.

| address, as in SIGLA_RING | a member |
|---|---|
| `valkey://host:port` | Valkey, or Redis from 7.0, without TLS and without users |
| `valkeys://host:port` | the same with TLS |
| `valkeys://user@host:port?iam=group` | ElastiCache: a token of IAM, for that replication group, is the password |
| `memcached://host:port`, `memcacheds://host:port` | Memcached, without and with TLS |

With TLS, `ca=/a/file.pem` in the query names the certificates to trust instead of the system's.
"""

from collections.abc import Callable

from sigla.cache.member import Member
from sigla.cache.members import addresses

Token = Callable[[str, str], str]
"""The password of a user and a replication group; raises OSError where there are no credentials."""


def member(address: str, *, token: Token, connect_s: float | None = None) -> tuple[str, Member]:
    """Its name, `host:port`, and a member that connects when it is first asked.

    connect_s: what opening a connection may take; None for `transport.CONNECT_S`.

    Raises ValueError with a sentence if the address is invalid; OSError if its file of certificates cannot be read.
    """
    read = addresses.read(address)
    # A process that does not use the library, or TLS, does not pay for its import.
    from sigla.cache.members.transport import CONNECT_S, Endpoint, trusting  # noqa: PLC0415 - see above

    within_s = CONNECT_S if connect_s is None else connect_s
    endpoint = Endpoint(read.host, read.port, trusting(read.ca) if read.tls else None)
    if read.protocol == addresses.MEMCACHED:
        from sigla.cache.members.memcached import MemcachedMember  # noqa: PLC0415 - see above

        return endpoint.name, MemcachedMember(endpoint, connect_s=within_s)
    from sigla.cache.members.valkey import ValkeyMember  # noqa: PLC0415 - see above

    def password() -> str:
        return token(read.user, read.group)

    return endpoint.name, ValkeyMember(endpoint, user=read.user, password=password, connect_s=within_s)
