"""Starter apps of `gatehouse new`: their files are in examples/starters, what differs per app is made here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from app.kit import randomness
from app.kit.package_files import EXAMPLES
from app.settings import of_child

_CONFIGURATION = """\
# The tenant and the application of this folder. After a change, run: {program} apply gatehouse.yaml
tenants:
  - name: {name}
    brand: {{display_name: {title}, color: "#3b49d9"}}
    applications:
      - name: web
        client_id: {name}
        client_name: {title}
        redirect_uris: [{url}/signed-in]
        post_logout_redirect_uris: [{url}/]
        grant_types: [authorization_code]
        token_endpoint_auth_method: client_secret_basic
"""
_HEAD = "# Settings and secrets of the app. Keep this file out of version control.\n"
STYLE = EXAMPLES / "starters" / "shared" / "style.css"
_OLDEST_NODE = (20, 6)


@dataclass(frozen=True)
class Framework:
    """What an app of one framework needs to run."""

    title: str
    secrets_file: str
    secrets: str
    """The text of this file, with `title`, `issuer`, `inbox`, `name`, `client_secret`, `secret_key`, `port` and `url` to be filled in."""
    style: str
    """Where the style sheet that all starter apps share lies in the app's folder."""
    command: tuple[str, ...]
    """Starts the app in its folder."""
    install: tuple[str, ...] = ()
    """Installs into the app's folder what the command needs; empty if that comes with Gatehouse."""


FRAMEWORKS = {
    # Gatehouse's own Python has all that the app imports.
    "flask": Framework(
        "Flask",
        "config.toml",
        "APP_NAME = {title}\nISSUER = {issuer}\nCLIENT_ID = {name}\nCLIENT_SECRET = {client_secret}\n"
        "SECRET_KEY = {secret_key}\nPORT = {port}\n"
        "INBOX = {inbox}  # development only: where Gatehouse shows its emails\n",
        "static/style.css",
        (sys.executable, "app.py"),
    ),
    "express": Framework(
        "Express",
        ".env",
        "APP_NAME={title}\nOIDC_ISSUER={issuer}\nOIDC_CLIENT_ID={name}\nOIDC_CLIENT_SECRET={client_secret}\n"
        "SESSION_SECRET={secret_key}\nAPP_URL={url}\n"
        "# Development only: where Gatehouse shows its emails\nINBOX={inbox}\n",
        "public/style.css",
        ("node", "--env-file=.env", "app.mjs"),
        ("npm", "install", "--no-audit", "--no-fund", "--loglevel=error"),
    ),
}


def framework_of(folder: Path) -> Framework | None:
    """Return what the app in a folder that `gatehouse new` made is made with; None for another folder."""
    frameworks = (framework for framework in FRAMEWORKS.values() if (folder / framework.secrets_file).exists())
    return next(frameworks, None) if (folder / "gatehouse.yaml").exists() else None


class StarterError(Exception):
    """The app can't be made; the text says why and how to mend it."""


@dataclass(frozen=True)
class Starter:
    """An app to be made in a folder, which listens on a port of localhost."""

    name: str
    framework: Framework
    folder: Path
    port: int
    issuer: str
    inbox: str
    program: str = "gatehouse"
    """The command that runs Gatehouse here."""

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def title(self) -> str:
        """The name of the app and its tenant, as people read it."""
        return self.name.replace("-", " ").capitalize()

    @property
    def configuration(self) -> str:
        """The configuration file, without secrets."""
        quoted = {"name": json.dumps(self.name), "title": json.dumps(self.title)}
        return _CONFIGURATION.format(**quoted, url=self.url, program=self.program)

    def copy(self) -> None:
        """Make the folder with the app's files."""
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(EXAMPLES / "starters" / self.framework.title.lower(), self.folder, ignore=ignored)
        style = self.folder / self.framework.style
        style.parent.mkdir()
        shutil.copyfile(STYLE, style)
        (self.folder / "gitignore").rename(self.folder / ".gitignore")
        readme = self.folder / "README.md"
        readme.write_text(readme.read_text().replace("`gatehouse ", f"`{self.program} "))
        (self.folder / "gatehouse.yaml").write_text(self.configuration)

    def write_secrets(self, client_secret: str) -> None:
        """Write the app's settings with its secrets, for this user's eyes only."""
        path = self.folder / self.framework.secrets_file
        path.touch(mode=0o600)
        values = {
            "title": self.title,
            "issuer": self.issuer,
            "inbox": self.inbox,
            "name": self.name,
            "client_secret": client_secret,
            "secret_key": randomness.token(),
            "url": self.url,
        }
        quoted = {key: json.dumps(value) for key, value in values.items()}
        path.write_text(_HEAD + self.framework.secrets.format(port=self.port, **quoted))

    def install(self) -> None:
        """Install what the app needs into its folder. Raises StarterError."""
        if not self.framework.install:
            return
        done = subprocess.run(self.framework.install, cwd=self.folder, env=of_child({}), check=False)  # noqa: S603 - npm
        if done.returncode:
            raise StarterError("npm couldn't install the packages of the app. Its own message is above.")


def check_programs(framework: Framework) -> None:
    """Raise StarterError unless the programs that the framework needs are there."""
    if framework.install and not (shutil.which("npm") and _node_version() >= _OLDEST_NODE):
        raise StarterError(
            f"{framework.title} needs Node.js 20.6 or newer and npm. Install them (https://nodejs.org), "
            "or leave out --framework for a Flask app."
        )


def _node_version() -> tuple[int, ...]:
    node = shutil.which("node")
    if node is None:
        return ()
    shown = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603 - as found
    return tuple(int(part) for part in re.findall(r"\d+", shown)[:2])
