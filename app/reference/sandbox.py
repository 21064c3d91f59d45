"""Values for "Try it" and the first requests from a tenant with public credentials: the demo's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from wsgiref.types import WSGIApplication


@dataclass(frozen=True)
class Trial:
    """Values that "Try it" is filled in with.

    Args:
        tenant: the tenant's name. The operations of its host have their pages there, so that "Try it" stays within one origin.
        credentials: values by the name of their security scheme.
        fields: values of path parameters and members of a request's body, by their names in lower case.
        machine_client: the ID and the secret, with a colon, of a program that gets machine tokens for every management operation.
        public_client: the ID of an application without a secret whose redirect URI is the page of the first sign-in.
        demo: the address of the demo's start page.
    """

    tenant: str = ""
    credentials: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    machine_client: str = ""
    public_client: str = ""
    demo: str = ""

    def filled(self, examples: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Return recorded examples, by operation, with the trial's values in their requests."""
        return {
            name: {**example, "request": {part: self._filled(value) for part, value in example["request"].items()}}
            for name, example in examples.items()
        }

    def _filled(self, part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        return {
            name: self.fields.get(name.lower(), value) if isinstance(value, str) else value
            for name, value in part.items()
        }

    @property
    def variables(self) -> dict[str, str]:
        """The values of the environment variables in code samples."""
        client_id, _, secret = self.credentials.get("ClientCredentials", "").partition(":")
        known = {"API_KEY": self.credentials.get("ApiKey"), "API_SECRET": self.credentials.get("ApiSecret")}
        named = {**known, "CLIENT_ID": client_id, "CLIENT_SECRET": secret}
        return {name: value for name, value in named.items() if value}

    @property
    def issues(self) -> tuple[str, ...]:
        """The security schemes for which `token` gets tokens."""
        signs_in = ("AccessToken",) if {"email", "password"} <= set(self.fields) else ()
        return (*signs_in, *(("MachineToken",) if self.machine_client else ()))

    def token(self, scheme: str, app: WSGIApplication, api_url: str, tenant_url: str) -> str:
        """Return a new token of the account or of the program from the application; "" if it refuses."""
        from werkzeug.test import Client  # noqa: PLC0415 - the demo alone needs it

        client = Client(app)
        if scheme == "AccessToken":
            person = {name: self.fields[name] for name in ("email", "password")}
            query = {"apikey": self.credentials["ApiKey"]}
            answer = client.post("/identity/v2/auth/login/2fa", api_url, query_string=query, json=person)
        else:
            client_id, _, secret = self.machine_client.partition(":")
            grant = {"grant_type": "client_credentials", "audience": f"{api_url}/v2/manage"}
            form = {**grant, "client_id": client_id, "client_secret": secret}
            answer = client.post("/service/oauth/token", tenant_url, data=form)
        return str(json.loads(answer.data).get("access_token", ""))


NO_TRIAL = Trial()
