"""The settings `front_door.…`."""

from collections.abc import Mapping
from dataclasses import dataclass

from sigla.deployment.choices.rules import NETWORKS_EXPECTED, Rules, Together, are_by_zone, are_networks, by_zone

WILDCARD = "*."


@dataclass(frozen=True, slots=True)
class FrontDoor:
    """The ways in.

    public: a REST API that the internet reaches; false: nothing is public, and private doors alone lead in.
    function_url: a URL of the function itself beside the REST API: cheaper, without the gateway's throttling.
    requests_per_second, burst: what the REST API lets through, all clients together, and how many of them at once;
        more is a 429.
    waf_requests_per_5_minutes: how often one address may ask the REST API, by a rule of AWS WAF, which has a price by
        the month and by the request; 0: as often as it likes.
    access_logs: a line in CloudWatch Logs for each request to the REST API, those that the gateway refuses included.
        API Gateway writes it through a role that is the account's, in each region: it has to be there.
    domain_name, certificate_arn: a name of your own for the REST API, and a certificate of this region for it; with
        `*.` before it, where a pool has a name for each registry.
    logs_role: make that role, and set it in place of the one that the account has, if it has one.
    zone_urls: a public URL for each zone's function; false where organisations forbid them, or a region has none: then
        private doors lead in.
    private_zonal: a second door into each zone, for clients in its network: an endpoint in the zone and a name of its
        own, {zone}.{private_domain}.
    private_domain, private_certificate_arn: what these names end in, and a certificate of this region for all of them.
    private_endpoints: endpoints that are there already, in the network of clients, one for each zone, instead of new
        ones with names of our own: use1-az1:vpce-0123abcd and so on, separated by commas.
    private_clients: networks that may come in there besides network.cidr, as CIDRs separated by commas.
    """

    public: bool = True
    function_url: bool = False
    requests_per_second: int = 500
    burst: int = 500
    waf_requests_per_5_minutes: int = 0
    access_logs: bool = False
    logs_role: bool = False
    domain_name: str = ""
    certificate_arn: str = ""
    zone_urls: bool = True
    private_zonal: bool = False
    private_domain: str = ""
    private_certificate_arn: str = ""
    private_endpoints: str = ""
    private_clients: str = ""

    @property
    def wildcard_domain(self) -> str:
        """What stands behind the `*.` of a domain that has a name for each registry of a pool; else empty."""
        return self.domain_name.removeprefix(WILDCARD) if self.domain_name.startswith(WILDCARD) else ""

    @property
    def endpoint_ids(self) -> Mapping[str, str]:
        """By the id of the zone that each leads into."""
        return by_zone(self.private_endpoints)


RULES: Rules = {
    "private_endpoints": (
        are_by_zone("vpce"),
        "it must be zones with endpoints, each zone once, such as use1-az1:vpce-0123abcd, or empty",
    ),
    "requests_per_second": (lambda value: 1 <= value <= 10_000, "it must be 1 to 10000"),
    "burst": (lambda value: 1 <= value <= 5_000, "it must be 1 to 5000"),
    "waf_requests_per_5_minutes": (
        lambda value: value == 0 or 10 <= value <= 2_000_000_000,
        "it must be 10 to 2000000000, or 0 for no firewall",
    ),
    "private_clients": (are_networks, NETWORKS_EXPECTED),
}

TOGETHER: Together = (
    (
        lambda given: given.access_logs or not given.logs_role,
        "front_door.logs_role needs front_door.access_logs: turn both on, or neither.",
    ),
    (
        lambda given: bool(given.domain_name) == bool(given.certificate_arn),
        "front_door.domain_name and front_door.certificate_arn go together: give both or neither.",
    ),
    (
        lambda given: given.private_zonal or not given.private_endpoints,
        "front_door.private_endpoints needs front_door.private_zonal.",
    ),
    (
        lambda given: not given.private_endpoints or not (given.private_domain or given.private_certificate_arn),
        "front_door.private_endpoints excludes front_door.private_domain and its certificate: endpoints have names.",
    ),
    (
        lambda given: (
            bool(given.private_endpoints)
            or given.private_zonal == bool(given.private_domain) == bool(given.private_certificate_arn)
        ),
        "front_door.private_zonal needs front_door.private_endpoints, or a private_domain and its certificate.",
    ),
    (
        lambda given: given.zone_urls or given.private_zonal,
        "front_door.zone_urls=false needs front_door.private_zonal: else zones would have no door.",
    ),
    (
        lambda given: given.public or not given.zone_urls,
        "front_door.public=false needs front_door.zone_urls=false, because those URLs are public.",
    ),
    (
        lambda given: given.public or not given.waf_requests_per_5_minutes,
        "front_door.waf_requests_per_5_minutes must be 0 with front_door.public=false: it guards the public REST API.",
    ),
)
