"""The guides for moving to Gatehouse, run from their own text: their exports end in a sign-in with the old password."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pyotp
import pytest
from click.testing import CliRunner

from app.cli import cli
from app.contract.accounts.import_file import ImportedAccount
from app.hub import create_app as create_hub
from app.identity import create_app, create_service
from app.identity.administration.configuration.file.theme import read_folder
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.platform.services import IdentityServices
from app.settings import Settings
from tests.support.oauth.relying_party import RelyingParty
from tests.support.services.identity_service import make_services
from tests.support.sources import text
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import VisitedPage, Visitor

SECRET = "a secret of the guides, long enough to be one"
OLD_PASSWORD = "correct horse 7"
TOTP = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
_FILE = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Moved:
    """The installation of a reader who followed a guide."""

    services: IdentityServices
    said: list[str]
    """What each command printed."""

    def visitor(self, tenant: str = "acme") -> Visitor:
        identity = create_app(create_service(self.services))
        hub = create_hub(self.services.settings, httpx.WSGITransport(app=identity), self.services.clock)
        return Visitor(PlainClient(hub), self.services.settings.hub_url(tenant))

    def sign_in(self, identifier: str) -> VisitedPage:
        visitor = self.visitor()
        desk = RelyingParty(self.services, visitor.client, "acme", "", "desk", "https://desk.example.com/callback")
        return visitor.authorize(desk).press("Sign in", identifier=identifier, password=OLD_PASSWORD)


@pytest.fixture
def moved(
    request: pytest.FixtureRequest, tmp_path: Path, migrated_file: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Moved]:
    """Follow the guide that the parameter names: write its files and run its commands."""
    page = text(Path("docs") / request.param)
    shutil.copy(migrated_file, tmp_path / "gatehouse.db")
    for name, content in _FILE.findall(page):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    said = []
    for command in "".join(_COMMANDS.findall(page)).splitlines():
        done = CliRunner().invoke(
            cli, shlex.split(command)[1:], env={"GATEHOUSE_DATA_DIR": str(tmp_path), "GATEHOUSE_SECRET_KEY": SECRET}
        )
        assert done.exit_code == 0, f"{command}\n{done.output}"
        said.append(done.output)
    services = make_services(Settings(data_dir=tmp_path, secrets=(SECRET.encode(),), shows_cost=True))
    yield Moved(services, said)
    services.database.dispose()


def verified(page: VisitedPage, moved: Moved) -> VisitedPage:
    assert page.heading == "Two-step verification"
    return page.press("Verify", code=pyotp.TOTP(TOTP).at(moved.services.clock.now()))


@pytest.mark.parametrize("moved", ["migrate-from-auth0.md"], indirect=True)
def test_auth0_guide_ends_in_a_sign_in(moved: Moved) -> None:
    assert "Dry run: 2 accounts would be created, 2 accounts would be updated." in moved.said[1]
    assert "Read 4 accounts: 2 created, 2 updated." in moved.said[2]
    assert "Read 1 account: 1 updated." in moved.said[3]
    assert "code" in verified(moved.sign_in("ada@example.com"), moved).query


@pytest.mark.parametrize("moved", ["migrate-from-keycloak.md"], indirect=True)
def test_keycloak_guide_ends_in_a_sign_in(moved: Moved) -> None:
    assert "Read 2 accounts: 2 created." in moved.said[2]
    assert "code" in moved.sign_in("grace").query
    assert "code" in verified(moved.sign_in("ada@example.com"), moved).query


@pytest.mark.parametrize("moved", ["import.md"], indirect=True)
def test_own_format_ends_in_a_sign_in(moved: Moved) -> None:
    assert "code" in moved.sign_in("ada@example.com").query
    assert "code" in moved.sign_in("grace").query


@pytest.mark.parametrize("moved", ["theming.md"], indirect=True)
def test_theme_of_the_guide_is_on_the_page(moved: Moved) -> None:
    page = moved.visitor("hazel").open("/login")
    assert page.status == 200
    assert "Hazel" in page.text
    assert "Good to see you." in page.text
    assert "data:image/svg+xml;base64," in page.html
    assert "https://hazel.example/privacy" in page.html
    assert "hazel has this look already: version 1.\n" in moved.said
    assert read_folder.folder_of(Path("copy")).brand == read_folder.folder_of(Path("hazel")).brand
    assert read_folder.folder_of(Path("hazel-night")).brand.colors["dark"]["raised"] == "#14201a"
    Path("hazel-night/theme.yaml").write_text(Path("hazel-night/pale.yaml").read_text())
    (stated,) = re.findall(r"is refused with `([^`]+)`", text(Path("docs/theming.md")))
    with pytest.raises(ConfigurationError) as weak:
        read_folder.folder_of(Path("hazel-night"))
    assert [f"{problem.key}: {problem.sentence}" for problem in weak.value.problems] == [stated]
    Path("hazel/theme.yaml").write_text(Path("hazel/wrong.yaml").read_text())
    refused = CliRunner().invoke(
        cli, ["apply", "hazel.yaml", "--dry-run"], env={"GATEHOUSE_DATA_DIR": ".", "GATEHOUSE_SECRET_KEY": SECRET}
    )
    (stated,) = re.findall(r"is refused: `([^`]+)`", text(Path("docs/theming.md")))
    assert stated in refused.output


def test_every_key_of_the_format_is_on_its_page() -> None:
    table = text(Path("docs/import.md")).partition("## Keys")[2].partition("## Password")[0]
    named = {key for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
    assert named == set(ImportedAccount.model_fields) - {"password"}
