"""The way of a zone to the KMS keys of shared KEKs: an endpoint of its own, and none where no key is named."""

import pytest

from sigla.deployment.translation import FINGERPRINT, MADE_OF
from tests.infra.conftest import ZONE_KEY
from tests.infra.reading import Template, all_in, all_of, ids_in, mentioned, of, written

PART = "ZoneUse1Az2"
GUARD, ENDPOINT = "AWS::EC2::SecurityGroup", "AWS::EC2::VPCEndpoint"


@pytest.fixture
def way(private: Template) -> Template:
    """The endpoint's properties."""
    return of(private, f"{PART}Keys", ENDPOINT)


def test_a_zone_that_wraps_keys_has_its_own_way_to_kms(private: Template, way: Template) -> None:
    """In its subnet, for these keys alone: the network leads nowhere else, and a client may write any key into a KEK.

    A VPC has one endpoint at most that takes over the name of KMS: none of ours does, so that each zone has its own.
    """
    assert written(way["ServiceName"]).endswith(".kms")
    assert (way["VpcEndpointType"], way["PrivateDnsEnabled"]) == ("Interface", False)
    assert mentioned(way["SubnetIds"]) == set(ids_in(private, PART, "AWS::EC2::Subnet"))
    (through,) = way["PolicyDocument"]["Statement"]
    assert (through["Action"], through["Resource"]) == (["kms:Decrypt", "kms:Encrypt"], ZONE_KEY)


def test_the_function_alone_comes_in_by_its_way_to_kms(private: Template, way: Template) -> None:
    """What else is in the network has no business there."""
    (guard,) = ids_in(private, f"{PART}Keys", GUARD)
    assert mentioned(way["SecurityGroupIds"]) == {guard}
    (rule,) = of(private, f"{PART}Keys", GUARD)["SecurityGroupIngress"]
    assert mentioned(rule) == set(ids_in(private, f"{PART}Guard", GUARD))
    assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 443, 443)


def test_the_function_knows_the_name_of_its_way_to_kms(private: Template) -> None:
    """By the variable that botocore reads. Another endpoint has another name, which a published version must learn."""
    (endpoint,) = ids_in(private, f"{PART}Keys", ENDPOINT)
    (name,) = ids_in(private, PART, "AWS::Lambda::Function")
    function = private["Resources"][name]
    variables = function["Properties"]["Environment"]["Variables"]
    assert mentioned(variables["AWS_ENDPOINT_URL_KMS"]) == {endpoint}
    assert variables[FINGERPRINT]
    assert endpoint in function["Metadata"][MADE_OF]


def test_no_zone_pays_for_a_way_that_it_does_not_need(with_zones: list[Template], private: Template) -> None:
    """Without keys, in subnets that are there, and on LocalStack."""
    for template in with_zones:
        ways = [each for each in all_of(template, ENDPOINT) if written(each["ServiceName"]).endswith("kms")]
        assert len(ways) == (template is private)
        assert not [each for each in all_in(template, "", ENDPOINT) if each.get("PrivateDnsEnabled")]
