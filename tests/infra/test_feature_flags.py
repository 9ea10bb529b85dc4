"""CDK's feature flags are pinned as the library recommends them: none is forgotten, none is left over."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.infra.conftest import CDK_JSON

DECIDED_OTHERWISE = {
    # CDK would tell AWS more of how it is used. What a deployment is like concerns its deployer alone.
    "@aws-cdk/core:enableAdditionalMetadataCollection": False,
}


def flags(chosen: dict[str, Any]) -> dict[str, Any]:
    """What of a context is CDK's own."""
    return {name: value for name, value in chosen.items() if re.search("[:/]", name)}


def recommended(cdk: Any, folder: Path) -> dict[str, Any]:
    """Flags that do something else unless they are set, with the values that the library recommends.

    The library writes its own list into each synthesis; `cdk flags` shows it from there.
    """
    app = cdk.App(outdir=str(folder), builtin_cloud_formation_validation=False)
    cdk.Stack(app, "Empty")
    app.synth()
    artifacts = json.loads((folder / "manifest.json").read_text())["artifacts"]
    known = artifacts["aws-cdk-lib/feature-flag-report"]["properties"]["flags"]
    return {
        name: flag["recommendedValue"]
        for name, flag in known.items()
        if flag.get("unconfiguredBehavesLike", {}).get("v2", False) != flag["recommendedValue"]
    }


def test_every_flag_is_pinned_as_the_library_recommends(cdk: Any, tmp_path: Path) -> None:
    """An upgrade of CDK that brings a flag, or changes a recommendation, is decided on and not met in a deployment."""
    wanted = recommended(cdk, tmp_path)
    assert wanted.keys() >= DECIDED_OTHERWISE.keys()
    assert flags(json.loads(CDK_JSON.read_text())["context"]) == wanted | DECIDED_OTHERWISE


@pytest.mark.usefixtures("cdk")
def test_a_synthesis_of_ones_own_has_the_same_flags_as_cdks() -> None:
    """`make synth` shows what `cdk deploy` deploys."""
    from infra.app import context

    assert flags(context([])) == flags(json.loads(CDK_JSON.read_text())["context"])
