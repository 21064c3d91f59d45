"""What the reader of docs/quickstarts/machine-to-machine.md sees: the program's calls, and the tokens that the API refuses."""

from __future__ import annotations

import httpx

from tests.support.documentation.quickstart_terminals import paste
from tests.support.documentation.quickstarts import Running

AUDIENCE = "https://orders.example.com"


def call_the_api(running: Running, api: str) -> None:
    """Paste the program's terminal, then call the API with tokens that it must refuse, each for the reason that the page states."""
    steps = paste(running, "program")
    assert sum(bool(item.shown) for item in steps) == 4
    for step in steps:
        step.check()
    good = ask(running, resource=AUDIENCE, scope="orders:read")["access_token"]
    assert call(api, good)[0] == 200
    head, claims, signature = good.split(".")
    for refused in (
        "",
        "opaque",
        f"{head}.{claims}.{signature[::-1]}",
        ask(running, scope="orders:read")["access_token"],
    ):
        assert call(api, refused) == (401, "invalid_token" if refused else "unauthorized")
    assert call(api, ask(running, resource=AUDIENCE, scope="orders:export")["access_token"]) == (
        403,
        "insufficient_scope",
    )
    assert ask(running, client_secret=running.secrets["orders"])["error"] == "invalid_client"
    assert ask(running, scope="orders:delete")["error"] == "invalid_scope"
    assert ask(running, resource="https://elsewhere.example.com")["error"] == "invalid_target"


def ask(running: Running, **values: str) -> dict[str, str]:
    """Return the token endpoint's answer to the program."""
    own = {"grant_type": "client_credentials", "client_id": "reports", "client_secret": running.secrets["reports"]}
    answer = running.gatehouse.ask("POST", f"{running.page.issuer}/api/oidc/token", data={**own, **values})
    return dict(answer.json())


def call(api: str, token: str) -> tuple[int, str | None]:
    """Return the API's status and error for a token; for an empty one, none is sent."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = httpx.get(f"{api}/orders", headers=headers)
    assert ("WWW-Authenticate" in answer.headers) == (answer.status_code in (401, 403))
    return answer.status_code, answer.json().get("error")
