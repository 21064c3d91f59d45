"""Code samples whose quoting is hard: run by a shell with a stand-in for curl."""

import json
import subprocess

from app.kit.openapi.code_samples import Call, Variable, curl


def test_secret_in_a_json_body_comes_from_the_environment() -> None:
    body = {"client_secret": Variable("CLIENT_SECRET"), "note": "it's $HOME", "tags": ["a b"]}
    sample = curl(Call("POST", "http://api.example.com/", media_type="application/json", body=body))
    last_argument = 'curl() { printf %s "${!#}"; }\n'
    run = ["bash", "-ec", last_argument + sample]
    printed = subprocess.run(run, env={"CLIENT_SECRET": "s3cret"}, capture_output=True, check=True, text=True).stdout
    assert json.loads(printed) == {**body, "client_secret": "s3cret"}
