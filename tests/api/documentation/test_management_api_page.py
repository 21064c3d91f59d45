"""docs/management-api.md, run from its own text: the first machine token, and the API key with its secret."""

from __future__ import annotations

from pathlib import Path

from tests.support.documentation.quickstart_terminals import paste, with_keys
from tests.support.documentation.quickstarts import prepared


def test_program_calls_the_management_api(tmp_path: Path) -> None:
    with prepared("../management-api", tmp_path) as running:
        steps = paste(with_keys(running), "program")
        assert sum(bool(item.shown) for item in steps) == 4
        for step in steps:
            step.check()
        token = running.gatehouse.ask(
            "POST",
            f"{running.page.issuer}/service/oauth/token",
            data={"grant_type": "client_credentials", "client_id": "admin", "client_secret": running.secrets["admin"],
                  "audience": "https://elsewhere.example.com"},
        )  # fmt: skip
        assert token.json()["error_description"] == (
            "This client may not use this audience. "
            f"Its audience_scopes have: http://api.localhost:{running.page.gatehouse_port}/v2/manage"
        )
