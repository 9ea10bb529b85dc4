"""docs/deploy.md's first deployment, typed as it stands there. CDK only synthesises; S3 and DynamoDB are moto's."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from sigla.deployment.stage_files import fingerprint, settings_of
from tests.infra.cloudformation import answering, described, missing
from tests.protocol.clients.server import Server, serving

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "deploy.md"
REGION = "us-east-1"
BUCKET, TABLE = "sigla-prod-bodies", "sigla-prod-catalog"

NPX = """\
import sys
from pathlib import Path
from sigla.deployment.stage_files import settings_of
words = sys.argv[1:]
flags = [each for before, each in zip(words, words[1:]) if before == "-c"]
context = dict(each.split("=", 1) for each in flags)
settings_of(context)  # as CDK does, which runs the app whatever it is asked
if "deploy" in words:
    import aws_cdk as cdk
    from infra import app
    empty = Path("empty")
    empty.mkdir()
    (empty / "empty").touch()
    # CDK's rules of CloudFormation take seconds to load; test_cloudformation_rules.py asks them of this stack, too.
    quick = {"analytics_reporting": False, "tree_metadata": False, "builtin_cloud_formation_validation": False}
    made = cdk.App(context=app.context(()) | context, outdir="cdk.out", **quick)
    stack = app.build(made, settings_of(context), placed=lambda _: empty)
    assert [f"sigla:account={stack.account}", f"sigla:region={stack.region}"] == flags[1:3]
    assert "RestUrl" in made.synth().get_stack_by_name(stack.stack_name).template["Outputs"]
    open("deployed", "w").write("\\n".join(flags))
else:
    assert "bootstrap" in words, words
"""


def section(title: str) -> list[str]:
    """The lines of a section of the page, from its head on."""
    lines = PAGE.read_text().splitlines()
    start = lines.index(f"## {title}")
    end = next(number for number, line in enumerate(lines[start + 1 :], start + 1) if line.startswith("## "))
    return lines[start:end]


def commands(lines: list[str]) -> list[str]:
    blocks = re.findall(r"^```\n(.*?)^```$", "\n".join(lines), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the repository, whose environment is ours and whose `npx` only synthesises."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in ("Makefile", "cdk.json", "pyproject.toml", "infra", "layers", "functions", "pipelines"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "npx.py").write_text(NPX)
    bin = folder / ".venv" / "bin"
    bin.mkdir(parents=True)
    program(bin / "python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program(bin / "sigla", f'#!/bin/sh\nexec {Path(sys.executable).with_name("sigla")} "$@"\n')
    program(bin / "npx", f'#!/bin/sh\nexport PYTHONPATH=.\nexec {sys.executable} npx.py "$@"\n')
    program(bin / "activate", f"PATH={bin}:$PATH\n")
    (folder / "requirements").mkdir()
    for path in ROOT.glob("requirements/*.*"):
        (folder / "requirements" / path.name).symlink_to(path)
    (folder / "requirements" / "install.sh").unlink()
    program(folder / "requirements" / "install.sh", "#!/bin/sh\n")  # what it brings is what runs this test
    return folder


@pytest.fixture
def registry() -> Iterator[Server]:
    """What stands where the deployed one would."""
    with serving() as server:
        yield server


@pytest.fixture
def account() -> Iterator[dict[str, str]]:
    """Variables of an account that has the bucket and the table which a deployment makes."""
    stores = ThreadedMotoServer(port=0, verbose=False)
    stores.start()
    endpoint = "http://{}:{}".format(*stores.get_host_and_port())
    made = {"region_name": REGION, "endpoint_url": endpoint, "aws_access_key_id": "x", "aws_secret_access_key": "x"}
    boto3.client("s3", **made).create_bucket(Bucket=BUCKET)
    boto3.client("dynamodb", **made).create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )
    yield {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": endpoint,
    }
    stores.stop()


def test_the_first_deployment_is_what_the_page_says(clone: Path, account: dict[str, str], registry: Server) -> None:
    """A stranger types it once, in order, and has a registry with a key; it fits on a screen."""
    lines = section("First deployment")
    assert len(lines) <= 40
    outputs = {"BucketName": BUCKET, "TableName": TABLE, "RestUrl": registry.url}
    deployed = clone / "deployed"
    ours = ("AWS_", "SIGLA_", "VENV", "MAKE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    known: dict[str, str] = {}
    with answering(lambda name: described(name, outputs) if deployed.exists() else missing(name)) as endpoint:
        environment = {**kept, **account, "AWS_ENDPOINT_URL_CLOUDFORMATION": endpoint}
        for line in commands(lines):
            told = typed(line, known, clone, environment)
            shown = re.findall(r"^(\w+): (\S+)$", told, re.MULTILINE)
            known |= {name.upper().removesuffix("NAME"): value for name, value in shown}
            if " keys " in line:
                (known["SECRET"],) = re.findall(r"(?im)^\W*secret\W+(\S+)", told)
    assert told.strip() == "[]"
    stage_file, *compared = deployed.read_text().splitlines()
    assert stage_file == "stage_file=stages/prod.toml"
    settings = settings_of({"stage_file": str(clone / "stages" / "prod.toml")})
    assert compared == [
        "sigla:account=123456789012",
        f"sigla:region={REGION}",
        f"sigla:settings={fingerprint(settings)}",
    ]


def typed(line: str, known: dict[str, str], folder: Path, environment: dict[str, str]) -> str:
    """What a command prints, in a shell whose environment is activated; what it does not know is filled in."""
    for placeholder, value in known.items():
        line = line.replace(placeholder, value)
    done = subprocess.run(
        ["sh", "-c", f". .venv/bin/activate; {line}"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout
