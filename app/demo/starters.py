"""Starter apps of `gatehouse new`: their files are in examples/starters, what differs per app is made here."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from app.kit import randomness
from app.kit.package_files import EXAMPLES

_CONFIGURATION = """\
# The tenant and the application of this folder. After a change, run: gatehouse apply gatehouse.yaml
tenants:
  - name: {name}
    brand: {{display_name: {title}}}
    applications:
      - name: web
        client_id: {name}
        client_name: {title}
        redirect_uris: [{url}/signed-in]
        post_logout_redirect_uris: [{url}/]
        grant_types: [authorization_code]
        token_endpoint_auth_method: client_secret_basic
"""
_SECRETS = """\
# Settings and secrets of the app. Keep this file out of version control.
ISSUER = {issuer}
CLIENT_ID = {name}
CLIENT_SECRET = {client_secret}
SECRET_KEY = {secret_key}
PORT = {port}
"""


@dataclass(frozen=True)
class Starter:
    """An app to be made in a folder, which listens on a port of localhost."""

    name: str
    framework: str
    folder: Path
    port: int
    issuer: str

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def title(self) -> str:
        return self.framework.title()

    @property
    def secrets_file(self) -> str:
        return "config.toml"

    @property
    def command(self) -> list[str]:
        """The command that starts the app in its folder. Gatehouse's own Python has all that the app imports."""
        return [sys.executable, "app.py"]

    @property
    def configuration(self) -> str:
        """The configuration file, without secrets."""
        title = self.name.replace("-", " ").capitalize()
        return _CONFIGURATION.format(name=json.dumps(self.name), title=json.dumps(title), url=self.url)

    def copy(self) -> None:
        """Make the folder with the app's files."""
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(EXAMPLES / "starters" / self.framework, self.folder, ignore=ignored)
        (self.folder / "gitignore").rename(self.folder / ".gitignore")
        (self.folder / "gatehouse.yaml").write_text(self.configuration)

    def write_secrets(self, client_secret: str) -> None:
        """Write the app's settings with its secrets, for this user's eyes only."""
        path = self.folder / self.secrets_file
        path.touch(mode=0o600)
        values = {
            "issuer": self.issuer,
            "name": self.name,
            "client_secret": client_secret,
            "secret_key": randomness.token(),
        }
        path.write_text(_SECRETS.format(port=self.port, **{key: json.dumps(value) for key, value in values.items()}))
