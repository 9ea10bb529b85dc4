"""Zones, as `make localstack ARGS="--zones 3"` deploys them: each with a URL and a ring of real caches."""

import json
import re
import subprocess
import sys
import urllib.request
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from infra.first_day import __main__ as first_day
from infra.first_day.day import PREFIX
from localstack.assembly import Assembly, deploy
from localstack.server import CREDENTIALS, taken
from tests.localstack.conftest import THREE_ZONES as ZONES
from tests.localstack.conftest import Deployed, command, gone, running_as
from tests.waiting import eventually

pytestmark = pytest.mark.localstack


def fixed(name: str) -> dict[str, str]:
    """A schema of this test alone."""
    return {"schema": json.dumps({"type": "fixed", "name": name, "size": 16})}


def reads_of(deployed: Deployed, id: int) -> int:
    """How often the body of a schema was read from S3."""
    with urllib.request.urlopen(f"{deployed.server.endpoint}/_sigla/reads", timeout=10) as counted:
        return sum(times for key, times in json.load(counted).items() if key.endswith(f"/schemas/_/{id:010}.json"))


def environments(deployed: Deployed) -> dict[str, set[int]]:
    """The processes of each zone's function."""
    found = defaultdict(set)
    for process in deployed.processes():
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if "awslambdaric" in process.cmdline():
                found[process.environ().get("SIGLA_ZONE", "")].add(process.pid)
    return found


def heartbeats(aws: Callable[[str], Any]) -> dict[str, dict[str, Any]]:
    """What each zone's clock sends each minute, by zone; its target beside it, as `target`."""
    events = aws("events")
    targets = [
        target
        for rule in events.list_rules()["Rules"]
        for target in events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
    ]
    told = [{**json.loads(target["Input"])["zone"], "target": target} for target in targets if "Input" in target]
    return {zone["id"]: zone for zone in told}


def beat(aws: Callable[[str], Any]) -> None:
    """Now, and not within a minute."""
    lambda_ = aws("lambda")
    for zone in heartbeats(aws).values():
        answer = lambda_.invoke(FunctionName=zone["target"]["Arn"], Payload=zone["target"]["Input"])
        assert "FunctionError" not in answer, answer["Payload"].read()


def probed(aws: Callable[[str], Any], zone: str) -> dict[str, Any]:
    """What a zone's function tells of itself."""
    function = heartbeats(aws)[zone]["function"]
    told: dict[str, Any] = json.load(
        aws("lambda").invoke(FunctionName=function, Payload='{"sigla": "probe"}')["Payload"]
    )
    return told


def listed(deployed: Deployed, zone: str) -> str:
    """What a client in the zone is given as its `schema.registry.url`."""
    sigla = str(Path(sys.executable).with_name("sigla"))
    command = [sigla, "zone-url", "--registry", deployed.facts["rest"], "--zone", zone]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_each_zone_reads_a_schema_from_s3_once_however_many_begin_at_once(deployed: Deployed) -> None:
    """Cold environments, three requests to each zone at the same moment. Whoever comes later reads nothing."""
    _, registered = deployed.door("rest").ask("POST", "/subjects/herd/versions", fixed("Herd"))
    id = registered["id"]
    assert reads_of(deployed, id) == 0
    for _ in range(2):
        with ThreadPoolExecutor(3 * len(ZONES)) as herd:
            answers = herd.map(lambda zone: deployed.door(zone).ask("GET", f"/schemas/ids/{id}/schema"), 3 * ZONES)
            assert [answer for answer, _ in answers] == [200] * 9
        assert reads_of(deployed, id) == len(ZONES)
    started = environments(deployed)
    assert all(len(started[zone]) > 1 for zone in ZONES), "there was no herd"


@pytest.mark.parametrize("writer", ZONES)
def test_what_is_registered_in_one_zone_is_there_in_all_of_them_at_once(deployed: Deployed, writer: str) -> None:
    """And through the REST API; no instance remembers that it was not there."""
    path = f"/subjects/from-{writer}/versions"
    others = [zone for zone in (*ZONES, "rest") if zone != writer]
    for other in others:
        assert deployed.door(other).ask("GET", f"{path}/latest")[0] == 404
    status, registered = deployed.door(writer).ask("POST", path, fixed(f"From{writer[-1]}"))
    assert status == 200
    for other in others:
        assert deployed.door(other).ask("GET", f"/schemas/ids/{registered['id']}")[0] == 200
        assert deployed.door(other).ask("GET", f"{path}/latest")[1]["id"] == registered["id"]


def test_the_directory_names_each_zone_and_its_url(deployed: Deployed, aws: Callable[[str], Any]) -> None:
    """As soon as its heart has beaten. Names are the account's own, and URLs those that were printed."""
    beat(aws)
    names = {each["ZoneId"]: each["ZoneName"] for each in aws("ec2").describe_availability_zones()["AvailabilityZones"]}
    status, zones = deployed.door(ZONES[0]).ask("GET", "/zones")
    assert status == 200
    for zone in zones:
        zone.pop("checked")
    told = [{"id": zone, "name": names[zone], "url": f"{deployed.facts[zone]}/", "healthy": True} for zone in ZONES]
    assert zones == told


def test_each_function_runs_in_its_zone_before_a_ring_of_its_own(aws: Callable[[str], Any]) -> None:
    """The metadata endpoint says where, and every member of the ring answers; no two zones share one."""
    told = {zone: probed(aws, zone) for zone in ZONES}
    assert {zone: (each["zone"], each["runs_in"]) for zone, each in told.items()} == {
        zone: (zone, zone) for zone in ZONES
    }
    members = [member for each in told.values() for member in each["members"]]
    assert [member["failure"] for member in members] == [""] * len(members)
    assert len({member["name"] for member in members}) == len(members) == 2 * len(ZONES)


def test_a_first_day_here_passes_and_says_what_an_emulator_hides(
    deployed: Deployed, aws: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """`make first-day ARGS=--localstack`: by one door, and as far into the account as it goes; nothing stays."""
    beat(aws)
    command = ["--localstack", str(deployed.server.port), "--samples", "4"]
    assert first_day.main([*command, "--door", "nowhere"]) == 2
    assert "Doors that can be reached: rest, function, use1az1, use1az2, use1az3." in capsys.readouterr().err
    status = first_day.main([*command, "--door", "rest"])
    said = capsys.readouterr().out
    assert status == 0, said
    assert "pass  rest      a subject's name arrives as it was sent: 16 names" in said
    assert "pass  account   GET /zones reports each zone as healthy: use1-az1, use1-az2, use1-az3" in said
    assert re.search(r"^pass  account   each zone runs where it was put.*use1-az3 [\d.]+ ms, then", said, re.MULTILINE)
    assert "the bucket allows no deletion: not asked, because LocalStack does not enforce policies" in said
    assert deployed.door("rest").ask("GET", f"/subjects?subjectPrefix={quote(PREFIX)}&deleted=true") == (200, [])


def test_confluents_client_goes_on_with_the_next_zone(deployed: Deployed, aws: Callable[[str], Any]) -> None:
    """Along the list that `sigla zone-url` prints for its own zone, which is then shut."""
    beat(aws)
    urls = listed(deployed, ZONES[0])
    assert urls.startswith(f"{deployed.facts[ZONES[0]]},")
    assert set(urls.split(",")) == {deployed.facts[name] for name in (*ZONES, "rest")}
    shown = f"{deployed.facts['key']}:{deployed.facts['secret']}"
    function = heartbeats(aws)[ZONES[0]]["function"].rpartition(":")[0]
    with SchemaRegistryClient({"url": urls, "basic.auth.user.info": shown, "max.retries": 1}) as client:
        first = client.register_schema("failover", Schema(fixed("Before")["schema"], "AVRO"))
        aws("lambda").put_function_concurrency(FunctionName=function, ReservedConcurrentExecutions=0)
        try:
            assert deployed.door(ZONES[0]).ask("GET", f"/schemas/ids/{first}")[0] == 429
            client.clear_caches()
            assert client.get_schema(first)
            second = client.register_schema("failover-2", Schema(fixed("After")["schema"], "AVRO"))
        finally:
            aws("lambda").delete_function_concurrency(FunctionName=function)
    assert deployed.door(ZONES[0]).ask("GET", f"/schemas/ids/{second}")[0] == 200


def without(there: Assembly, zone: str, into: Path) -> Assembly:
    """The same with one zone less: infra's tests say that this is all the difference."""
    into.mkdir()
    for path in (*there.folder.glob("asset.*"), there.folder / "manifest.json"):
        (into / path.name).symlink_to(path)
    title = zone.title().replace("-", "")
    template = json.loads(there.template.read_text())
    for part in ("Resources", "Outputs"):
        template[part] = {name: each for name, each in template[part].items() if title not in name}
    text = json.dumps(template)
    (into / there.template.name).write_text(text)
    assets = there.folder / f"{there.artifact}.assets.json"
    (into / assets.name).write_text(assets.read_text().replace(there.template_key, sha256(text.encode()).hexdigest()))
    return Assembly(into)


def test_a_zone_goes_and_comes_and_the_others_do_not_notice(deployed: Deployed, tmp_path: Path) -> None:
    """Their URLs and the very processes of their functions stay; of the one that goes nothing does."""
    there, leaving = Assembly(deployed.server.folder / "cdk.out"), ZONES[1]
    others = [name for name in (*ZONES, "rest", "function") if name != leaving]
    assert deployed.door("rest").ask("POST", "/subjects/comes/versions", fixed("Comes"))[0] == 200
    for name in (leaving, *others):
        assert deployed.door(name).ask("GET", "/subjects/comes/versions/latest")[0] == 200
    before, running = environments(deployed), deployed.processes()
    assert before[leaving]

    def put(assembly: Assembly) -> dict[str, str]:
        return deploy(assembly, endpoint=deployed.server.endpoint, credentials=CREDENTIALS)

    put(without(there, leaving, tmp_path / "fewer"))
    after = environments(deployed)
    assert {zone: after[zone] for zone in others} == {zone: before[zone] for zone in others}
    eventually(lambda: not environments(deployed)[leaving])
    ended = set(running) - set(deployed.processes())
    assert len([each for each in ended if each.pid not in before[leaving]]) >= 2, "its caches are still there"
    assert deployed.door(leaving).ask("GET", "/subjects")[0] == 403
    for name in others:
        assert deployed.door(name).ask("GET", "/subjects/comes/versions/latest")[0] == 200
    outputs = put(there)
    assert outputs["ZoneUrlUse1Az2"] == f"{deployed.facts[leaving]}/"
    assert deployed.door(leaving).ask("GET", "/subjects/comes/versions/latest")[0] == 200
    assert {zone: environments(deployed)[zone] for zone in others} == {zone: before[zone] for zone in others}


def test_a_zone_whose_ring_is_gone_goes_on_and_its_next_heartbeat_says_so(
    deployed: Deployed, aws: Callable[[str], Any]
) -> None:
    """S3 answers for it. The other zones keep theirs."""
    lost = {member["name"].rpartition(":")[2] for member in probed(aws, ZONES[2])["members"]}
    caches = [each for each in deployed.processes() if lost & set(":".join(each.cmdline()).split(":"))]
    for cache in caches:
        cache.kill()
    gone(caches)
    door = deployed.door(ZONES[2])
    status, registered = door.ask("POST", "/subjects/ringless/versions", fixed("Ringless"))
    assert status == 200
    assert door.ask("GET", f"/schemas/ids/{registered['id']}")[0] == 200
    beat(aws)
    _, zones = deployed.door("rest").ask("GET", "/zones")
    reasons = {zone["id"]: zone.get("reason", "") for zone in zones}
    assert reasons == {ZONES[0]: "", ZONES[1]: "", ZONES[2]: "2 of the 2 members of its ring do not answer"}


def test_down_leaves_nothing(deployed: Deployed) -> None:
    """No function, no cache, no port, no file. The last story of all that share this deployment."""
    started = deployed.processes()
    assert "awslambdaric" in running_as(started)
    assert running_as(started) & {"redis-server", "valkey-server"}
    assert command("localstack.down", "--port", str(deployed.server.port)).stdout == "LocalStack is stopped.\n"
    gone(started)
    assert not taken(deployed.server.port)
    assert not deployed.server.folder.exists()
