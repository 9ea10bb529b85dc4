"""The caches of a zone: single nodes in its subnet, encrypted, forgetful, and for its function alone."""

import re

import pytest

from sigla.cache.members.addresses import read
from sigla.deployment.choices.ring import MEMCACHED, VALKEY, RingChoices
from sigla.deployment.settings import InvalidSetting, Settings
from tests.caches import USERS
from tests.infra.conftest import Synthesise
from tests.infra.reading import Template, all_in, all_of, as_list, ids, ids_in, kinds, mentioned, of, written

ZONE = "ZoneUse1Az1"
MEMBER = {VALKEY: "AWS::ElastiCache::ReplicationGroup", MEMCACHED: "AWS::ElastiCache::CacheCluster"}
FUNCTION = "AWS::Lambda::Function"


def test_a_member_is_one_node_in_the_zones_subnet(zones: Template) -> None:
    """A second node in another zone would be paid for, and answer from afar."""
    members = all_in(zones, ZONE, MEMBER[VALKEY])
    assert len(members) == 2
    (subnet,) = ids_in(zones, ZONE, "AWS::EC2::Subnet")
    assert of(zones, ZONE, "AWS::ElastiCache::SubnetGroup")["SubnetIds"] == [{"Ref": subnet}]
    for member in members:
        assert (member["NumCacheClusters"], member["AutomaticFailoverEnabled"], member["MultiAZEnabled"]) == (
            1,
            False,
            False,
        )
        assert member["PreferredCacheClusterAZs"] == [{"Fn::GetAtt": [subnet, "AvailabilityZone"]}]
        assert mentioned(member["CacheSubnetGroupName"]) == set(ids_in(zones, ZONE, "AWS::ElastiCache::SubnetGroup"))
        assert (member["Engine"], member["CacheNodeType"]) == ("valkey", "cache.t4g.micro")


def test_what_a_member_holds_is_encrypted_on_its_disk_and_on_the_way(zones: Template) -> None:
    for member in all_of(zones, MEMBER[VALKEY]):
        assert member["AtRestEncryptionEnabled"] is member["TransitEncryptionEnabled"] is True
        assert member["TransitEncryptionMode"] == "required"


def test_a_member_forgets_what_was_not_asked_for_longest(zones: Template, private: Template) -> None:
    """Out of the box Valkey would rather refuse; Memcached forgets anyway, but takes no body of more than 1 MiB."""
    changed = [each["Properties"] for each in all_of(zones, "AWS::ElastiCache::ParameterGroup")]
    assert changed == [{"maxmemory-policy": "allkeys-lru"}] * 3
    (larger,) = [each["Properties"] for each in all_of(private, "AWS::ElastiCache::ParameterGroup")]
    assert larger == {"max_item_size": "4194304"}


def test_a_member_knows_one_user_who_has_no_password(zones: Template) -> None:
    """IAM says who it is, for which it must be called as its id is.

    It may do what tests of members do with a Valkey that lets them do no more (tests/caches.py).
    """
    for part, name in ((ZONE, "sigla-default-use1-az1"), ("ZoneUse1Az4", "sigla-default-use1-az4")):
        user, users = of(zones, part, "AWS::ElastiCache::User"), of(zones, part, "AWS::ElastiCache::UserGroup")
        assert user["UserId"] == user["UserName"] == name
        assert user["AuthenticationMode"] == {"Type": "iam"}
        assert f"user sigla {user['AccessString'].replace('on', 'on nopass', 1)}" in USERS.splitlines()
        assert users["UserIds"] == [{"Ref": each} for each in ids_in(zones, part, "AWS::ElastiCache::User")]
        assert users["Engine"] == user["Engine"] == "valkey"
        (group,) = ids_in(zones, part, "AWS::ElastiCache::UserGroup")
        assert [each["UserGroupIds"] for each in all_in(zones, part, MEMBER[VALKEY])] == [[{"Ref": group}]] * 2


def test_members_are_made_one_after_the_other(zones: Template) -> None:
    """While one joins, the group of users that all of them have is busy, and refuses the next."""
    first, second = ids_in(zones, ZONE, MEMBER[VALKEY])
    waits = {name: as_list(zones["Resources"][name].get("DependsOn", [])) for name in (first, second)}
    assert waits == {first: [], second: [first]}


def test_memcached_of_another_type_is_another_member(private: Template, synthesise: Synthesise) -> None:
    """ElastiCache does not change the type of one that is there: CloudFormation has to make a new one first."""
    larger = synthesise(("zones", "use1-az2"), ("ring.kind", "memcached"), ("ring.node_type", "cache.t4g.small"))
    assert len(ids(larger, MEMBER[MEMCACHED])) == 2
    assert not set(ids(larger, MEMBER[MEMCACHED])) & set(ids(private, MEMBER[MEMCACHED]))


def test_only_the_zones_function_reaches_its_ring(zones: Template) -> None:
    """From its security group, on one port; and a member opens no connection."""
    guard = of(zones, f"{ZONE}RingGuard", "AWS::EC2::SecurityGroup")
    (comes_in,) = guard["SecurityGroupIngress"]
    function = of(zones, ZONE, FUNCTION)["VpcConfig"]["SecurityGroupIds"]
    assert [comes_in["SourceSecurityGroupId"]] == function
    assert (comes_in["IpProtocol"], comes_in["FromPort"], comes_in["ToPort"]) == ("tcp", 6379, 6379)
    assert [(each["IpProtocol"], each["CidrIp"]) for each in guard["SecurityGroupEgress"]] == [
        ("icmp", "255.255.255.255/32")
    ]
    (mine,) = ids_in(zones, f"{ZONE}RingGuard", "AWS::EC2::SecurityGroup")
    for member in all_in(zones, ZONE, MEMBER[VALKEY]):
        assert [mentioned(each) for each in member["SecurityGroupIds"]] == [{mine}]


def test_the_function_is_told_its_members_and_who_it_is_there(zones: Template) -> None:
    """Addresses are known when the stack is deployed: they need not be discovered, and all see the same ring."""
    told = written(of(zones, ZONE, FUNCTION)["Environment"]["Variables"]["SIGLA_RING"])
    (user,) = ids_in(zones, ZONE, "AWS::ElastiCache::User")
    members = ids_in(zones, ZONE, MEMBER[VALKEY])
    assert told.split(",") == [
        f"valkeys://<{user}>@<{each}.PrimaryEndPoint.Address>:<{each}.PrimaryEndPoint.Port>?iam=<{each}>"
        for each in members
    ]


def test_the_function_understands_what_it_is_told(zones: Template, private: Template) -> None:
    """An address that it cannot read stops a function at its start."""
    for template, part, kind in ((zones, ZONE, VALKEY), (private, "ZoneUse1Az2", MEMCACHED)):
        told = written(of(template, part, FUNCTION)["Environment"]["Variables"]["SIGLA_RING"])
        for text in re.sub(r"<[\w.]+Port>", "6379", told).split(","):
            address = read(re.sub(r"<([\w.]+)>", lambda found: found[1].lower(), text))
            assert (address.protocol, address.tls, address.port) == (kind, True, 6379)


OTHERS = 1_000
"""Bytes of all other variables."""


def test_more_members_than_fit_into_the_environment_are_refused() -> None:
    """Lambda's has 4 KB for all its variables; a name in ElastiCache has 90 letters at most."""
    longest = f"valkeys://{'u' * 40}@{'h' * 90}:6379?iam={'g' * 40}"
    most = (4_096 - OTHERS) // (len(longest) + 1)
    with pytest.raises(InvalidSetting, match=r"^ring\.members is"):
        Settings(ring=RingChoices(members=most + 1))


def test_members_may_be_memcached(private: Template) -> None:
    """The ring asks for no credentials: the guard decides, and IAM has nothing to allow."""
    members = all_of(private, MEMBER[MEMCACHED])
    (subnet,) = ids_in(private, "ZoneUse1Az2", "AWS::EC2::Subnet")
    assert len(members) == 2
    for member in members:
        assert (member["Engine"], member["NumCacheNodes"], member["AZMode"]) == ("memcached", 1, "single-az")
        assert mentioned(member["PreferredAvailabilityZone"]) == {subnet}
        assert member["TransitEncryptionEnabled"] is True  # it writes nothing to a disk
    assert not kinds(private) & {MEMBER[VALKEY], "AWS::ElastiCache::User", "AWS::ElastiCache::UserGroup"}
    told = written(of(private, "ZoneUse1Az2", FUNCTION)["Environment"]["Variables"]["SIGLA_RING"])
    assert told.split(",") == [
        f"memcacheds://<{each}.ConfigurationEndpoint.Address>:<{each}.ConfigurationEndpoint.Port>"
        for each in ids_in(private, "ZoneUse1Az2", MEMBER[MEMCACHED])
    ]
    asked = [each for role in all_of(private, "AWS::IAM::Policy") for each in role["PolicyDocument"]["Statement"]]
    assert "elasticache:Connect" not in [each["Action"] for each in asked]


def test_a_zone_can_do_without_a_ring(synthesise: Synthesise) -> None:
    """Then an instance that starts reads S3 for itself; nothing of a cache is left, nor a way to one."""
    template = synthesise(("zones", "use1-az1"), ("ring.kind", "none"))
    assert not [kind for kind in kinds(template) if "ElastiCache" in kind]
    (guard,) = all_of(template, "AWS::EC2::SecurityGroup")
    assert [each["ToPort"] for each in guard["SecurityGroupEgress"]] == [443]
    assert of(template, ZONE, FUNCTION)["Environment"]["Variables"]["SIGLA_RING"] == ""


@pytest.mark.usefixtures("cdk")
def test_versions_and_parameters_are_of_one_family() -> None:
    """ElastiCache refuses others, minutes later."""
    from sigla.cdk.parts.ring import ENGINES

    assert set(ENGINES) == {VALKEY, MEMCACHED}
    for kind, engine in ENGINES.items():
        assert engine.family.startswith(kind)
        assert engine.version.startswith(engine.family.removeprefix(kind))
