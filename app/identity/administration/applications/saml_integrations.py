"""Ready-made settings of service providers: a file of data for each in the contract, with the addresses of its documentation beside it.

The files are read when a client names one, or when they are listed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from app.contract.saml import saml_operations

_FOLDER: Final = Path(saml_operations.__file__).with_name("integrations")
_ACCOUNT: Final = "{account}"
_FILES: Final = {
    "Salesforce": "salesforce",
    "AwsIdentityCenter": "aws_identity_center",
    "GoogleWorkspace": "google_workspace",
    "Microsoft365": "microsoft365",
    "Slack": "slack",
    "Zoom": "zoom",
    "GitLab": "gitlab",
    "Grafana": "grafana",
    "Zendesk": "zendesk",
    "Box": "box",
    "Tableau": "tableau",
    "Jira": "jira",
}


@dataclass(frozen=True)
class ServiceProviderPreset:
    """What is known of a service provider.

    Attributes:
        title: its name.
        documentation: the addresses of its documentation.
        fields: the fields of the client that it needs, by the names of the interface.
        settings: fields of the client, by the names of the configuration file; `{account}` stands for the name of the account.
    """

    title: str
    documentation: tuple[str, ...]
    fields: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def settings_of(self, account: str) -> dict[str, Any]:
        """Return the settings for an account at the service provider."""
        return {name: _filled(value, account) for name, value in self.settings.items()}


def find(integration_type: str) -> ServiceProviderPreset | None:
    """Return the ready-made settings of a type; None for Custom."""
    return presets().get(integration_type)


@cache
def presets() -> Mapping[str, ServiceProviderPreset]:
    """Return the ready-made settings by type."""
    return {name: _read(_FOLDER / f"{file}.toml") for name, file in _FILES.items()}


def _read(path: Path) -> ServiceProviderPreset:
    stored = tomllib.loads(path.read_text(encoding="utf-8"))
    return ServiceProviderPreset(
        stored["title"], tuple(stored["documentation"]), tuple(stored["fields"]), stored["settings"]
    )


def _filled(value: Any, account: str) -> Any:
    if isinstance(value, str):
        return value.replace(_ACCOUNT, account)
    if isinstance(value, list):
        return [_filled(item, account) for item in value]
    if isinstance(value, dict):
        return {name: _filled(item, account) for name, item in value.items()}
    return value
