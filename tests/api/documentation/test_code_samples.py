"""Code samples of the API reference, run as readers run them: in a shell, with Python and with Node.js, at a real service.

Readers fill in their own values: the environment variables, the tenant in a host name, and the ids and tokens of their earlier answers
where a sample has an example's. All else is run as the document has it. Each language has a tenant of its own.
"""

from __future__ import annotations

import ast
import json
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from app.cli import cli
from app.contract.published.examples import load_examples
from tests.support.documentation.quickstarts import Quickstart, environment, serve
from tests.support.operations.published import is_valid, undeclared
from tests.support.plugins.examples import shape
from tests.support.processes.command_process import forked
from tests.support.services.servers import free_port

LOCATION = re.compile(r"^(?:location: )?(https?://\S+)\s*$", re.MULTILINE | re.IGNORECASE)
SECRET = "a-secret-for-code-samples"
CONFIGURATION = """
  - name: {name}
    api_key: {key}
    api_secret: {secret}
    applications:
      - name: robot
        client_id: robot
        client_secret: {client_secret}
        application_type: m2m
        grant_types: [client_credentials]
        resource_server: true
        audience_scopes: {{"http://api.localhost:{port}/identity/v2/manage": [profile:read]}}
      - name: shop
        client_id: shop
        protocol: oauth
        redirect_uris: ["https://shop.example/cb?a=b&c"]
    accounts:
      - {{email: {email}, password: {password}, email_verified: true}}
"""


@dataclass(frozen=True)
class Language:
    """How the samples of a language are run, and how their output is read."""

    label: str
    command: tuple[str, ...]
    read: Callable[[str], Any]

    @property
    def tenant(self) -> str:
        return self.label.lower()


LANGUAGES = [
    Language("curl", ("bash", "-ec"), json.loads),
    Language("Python", (sys.executable, "-c"), ast.literal_eval),
    Language("JavaScript", ("node", "--input-type=module", "-e"), json.loads),
]


@dataclass(frozen=True)
class SampleStep:
    """One operation; `fills` names the example's values that readers replace, `keeps` members of the answer that later steps need."""

    operation: str
    fills: dict[str, str] = field(default_factory=dict)
    keeps: dict[str, str] = field(default_factory=dict)


STEPS = [
    SampleStep("oauth_tokens.machine", keeps={"MACHINE_TOKEN": "access_token"}),
    SampleStep("registration_schema.read"),
    SampleStep("organizations.create", keeps={"ORGANIZATION": "Id"}),
    SampleStep("organizations.update", fills={"orgId": "ORGANIZATION"}),
    SampleStep("organization_join_requests.list", fills={"orgId": "ORGANIZATION"}),
    SampleStep("organizations.delete", fills={"orgId": "ORGANIZATION"}),
    SampleStep("roles.create"),
    SampleStep("roles.add_permissions"),
    SampleStep("sign_in.with_password", keeps={"ACCESS_TOKEN": "access_token"}),
    SampleStep("accounts.read_own"),
    SampleStep("oauth_tokens.introspect", fills={"token": "ACCESS_TOKEN"}),
    SampleStep("oauth_older.redirect"),
]


@dataclass(frozen=True)
class SampleReader:
    """A reader who runs the samples of one language: the document, and the environment of the terminal."""

    language: Language
    entries: dict[str, dict[str, Any]]
    environ: dict[str, str]

    def run(self, step: SampleStep) -> Any:
        """Run a sample and return its output, after a check that it is the operation's response."""
        entry = self.entries[step.operation]
        command = [*self.language.command, self.source(step)]
        run = subprocess.run(command, env=self.environ, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{command[-1]}\n{run.stdout}{run.stderr}"
        status = next(name for name in entry["responses"] if name < "400")
        if status == "302":
            (location,) = LOCATION.findall(run.stdout)
            return {"location": location.replace(f"//{self.language.tenant}.", "//acme.")}
        answer = self.language.read(run.stdout)
        schema = entry["responses"][status]["content"]["application/json"]["schema"]
        assert is_valid(schema, answer), f"{command[-1]}\n{run.stdout}"
        assert not undeclared(schema, answer), f"{command[-1]}\n{run.stdout}"
        self.environ.update({name: answer[member] for name, member in step.keeps.items()})
        return answer

    def source(self, step: SampleStep) -> str:
        """Return the sample with the reader's own values."""
        entry = self.entries[step.operation]
        source = next(item["source"] for item in entry["x-codeSamples"] if item["label"] == self.language.label)
        for name, variable in step.fills.items():
            example = example_of(entry, name)
            assert source.count(example) == 1, source
            source = source.replace(example, self.environ[variable])
        return str(source).replace("http://acme.", f"http://{self.language.tenant}.")


def example_of(entry: dict[str, Any], name: str) -> str:
    """Return the value that the document shows for a parameter or for a member of the body."""
    shown = {element["name"]: element.get("example") for element in entry["parameters"]}
    for item in entry.get("requestBody", {}).get("content", {}).values():
        for example in item.get("examples", {}).values():
            shown.update(example["value"])
    return str(shown[name])


def test_samples_of_three_languages_do_the_same(tmp_path: Path) -> None:
    port = free_port()
    environ = environment(tmp_path / "support")
    configuration = tmp_path / "gatehouse.yaml"
    configuration.write_text("tenants:" + "".join(tenant(language, port) for language in LANGUAGES))
    applied = CliRunner().invoke(cli, ["apply", str(configuration)], env=environ)
    assert applied.exit_code == 0, applied.output
    server = forked(serve(Quickstart([], port, 0)), tmp_path, environ, until="inbox.localhost")
    try:
        document = server.ask("GET", server.at("api", "/openapi.json")).json()
        entries = {entry["operationId"]: entry for item in document["paths"].values() for entry in item.values()}
        readers = [SampleReader(language, entries, {**environ, **credentials(language)}) for language in LANGUAGES]
        with ThreadPoolExecutor(len(readers)) as together:
            answers = list(together.map(lambda reader: [reader.run(step) for step in STEPS], readers))
    finally:
        assert server.end(signal.SIGTERM) == 0
    for step, *of_step in zip(STEPS, *answers, strict=True):
        assert [shape(item) for item in of_step] == [shape(of_step[0])] * 3, step.operation
    by_name = dict(zip((step.operation for step in STEPS), answers[0], strict=True))
    assert by_name["organizations.delete"] == {"IsDeleted": True}
    assert by_name["oauth_tokens.introspect"]["active"] is True
    assert by_name["oauth_older.redirect"]["location"].startswith(
        f"http://acme.localhost:{port}/service/oauth/authorize?"
    )


def credentials(language: Language) -> dict[str, str]:
    """Return the variables that the samples read."""
    api_key, api_secret = (
        str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{kind} {language.label}")) for kind in ("key", "secret")
    )
    return {"API_KEY": api_key, "API_SECRET": api_secret, "CLIENT_ID": "robot", "CLIENT_SECRET": SECRET}


def tenant(language: Language, port: int) -> str:
    """Return the tenant of a language, with the account that the sample of a sign-in names."""
    stored = credentials(language)
    person = load_examples()["sign_in.with_password"]["request"]["body"]
    return CONFIGURATION.format(
        name=language.tenant,
        key=stored["API_KEY"],
        secret=stored["API_SECRET"],
        client_secret=SECRET,
        port=port,
        **person,
    )
