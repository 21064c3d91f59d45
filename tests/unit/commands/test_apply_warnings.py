"""`gatehouse apply` names the JWT providers that accept tokens made for others."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.processes.command_line import Run

EXACT = {"match_value": True, "is_mandatory": True}
ISSUER, AUDIENCE = {**EXACT, "expected_value": "https://p.example"}, {**EXACT, "expected_values": ["app"]}
PROVIDERS = {
    "Neither": {},
    "Optional": {"issuer": {**ISSUER, "is_mandatory": False}, "audience": {**AUDIENCE, "match_value": False}},
    "Issuer": {"issuer": ISSUER},
    "Audience": {"audience": AUDIENCE},
    "Both": {"issuer": ISSUER, "audience": AUDIENCE},
}
EXPECTED = {"Neither": "iss and aud", "Optional": "iss and aud", "Issuer": "aud", "Audience": "iss"}


def write(folder: Path, names: list[str] | None) -> str:
    providers = [{"app_name": name, "algo": "HS256", "key": "k" * 32, **PROVIDERS[name]} for name in names or ()]
    tenant = {"name": "acme", **({"jwt_providers": providers} if names is not None else {})}
    (folder / "acme.yaml").write_text(json.dumps({"tenants": [tenant]}))
    return "acme.yaml"


def warnings(run: Run, *arguments: str) -> dict[str, str]:
    """Return what each provider that the command names does not check."""
    done = run("apply", *arguments)
    assert done.exit_code == 0, done.output
    lines = [line for line in done.output.splitlines() if line.startswith("Warning: acme: JWT provider ")]
    named = [line.removeprefix("Warning: acme: JWT provider ").partition(" doesn't check ") for line in lines]
    assert len({name for name, _, _ in named}) == len(named), "each once"
    return {name: rest.partition(",")[0] for name, _, rest in named}


def test_apply_names_providers_that_accept_any_token(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path, list(PROVIDERS))
    for arguments in ((file, "--dry-run"), (file,), (file, "--dry-run"), (file,)):
        assert warnings(run, *arguments) == EXPECTED


def test_apply_names_stored_providers_that_the_file_omits(run: Run, tmp_path: Path) -> None:
    assert run("apply", write(tmp_path, list(PROVIDERS))).exit_code == 0
    assert warnings(run, write(tmp_path, None), "--dry-run") == EXPECTED
    file = write(tmp_path, ["Issuer", "Both"])
    assert warnings(run, file) == EXPECTED, "without --prune the others stay"
    for arguments in (("--prune", "--dry-run"), ("--prune",)):
        assert warnings(run, file, *arguments) == {"Issuer": "aud"}
