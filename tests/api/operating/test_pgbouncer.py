"""PostgreSQL behind a real PgBouncer in transaction mode: concurrent sign-ins on fewer server connections than threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from tests.conformance.visitor import ConformanceVisitor
from tests.support.accounts.registering import REGISTER, primary
from tests.support.processes.installation import SHOP_SECRET, Installation, installed
from tests.support.services.pgbouncer import pgbouncer
from tests.support.services.servers import NO_AUTHORITIES, Postgres, PostgresUrls
from tests.support.tenants.tenant_server import PASSWORD

SOTT = "/identity/v2/manage/account/sott"
CALLBACK = "http://127.0.0.1:9/cb"
PEOPLE = 12
SHOP = {
    "name": "shop",
    "protocol": "openid",
    "client_id": "shop",
    "client_secret": SHOP_SECRET,
    "redirect_uris": [CALLBACK],
    "grant_types": ["authorization_code", "refresh_token"],
    "token_endpoint_auth_method": "client_secret_post",
}


@pytest.fixture
def ours(postgres_server: Postgres, copied_postgres: PostgresUrls, tmp_path: Path) -> Iterator[Installation]:
    with pgbouncer().before(postgres_server) as pooled, installed(tmp_path, copied_postgres) as made:
        runtime = pooled.url(copied_postgres.runtime_url, postgres_server.port)
        made.environ["GATEHOUSE_DATABASE_URL"] = f"{runtime}?prepare=off"
        made.tenant(SHOP, email_verification="optional", email_login=True)  # `gatehouse apply` uses the pooler, too
        made.start()
        yield made


def journey(ours: Installation, email: str) -> str:
    """Sign up, sign in to the shop on the hosted pages, and return the name that the shop receives."""
    sott = ours.send("GET", SOTT, with_secret=True).json()["Sott"]
    made = ours.send("POST", REGISTER, {"Email": primary(email), "Password": PASSWORD}, sott=sott)
    assert made.status_code == 200, made.text
    parameters = {"client_id": "shop", "response_type": "code", "redirect_uri": CALLBACK, "scope": "openid email"}
    with ConformanceVisitor(email, PASSWORD) as person:
        back = person.arrive(f"{ours.tenant_url}/service/oidc/authorize?{urlencode(parameters)}", CALLBACK)
    code = parse_qs(urlsplit(back).query)["code"][0]
    headers = {"Host": urlsplit(ours.tenant_url).netloc}
    grant = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
    client = {"client_id": "shop", "client_secret": SHOP_SECRET}
    at = f"http://127.0.0.1:{ours.port}"
    token = httpx.post(
        f"{at}/api/oidc/token", data={**grant, **client}, headers=headers, timeout=60, verify=NO_AUTHORITIES
    )
    assert token.status_code == 200, token.text
    bearer = {**headers, "Authorization": f"Bearer {token.json()['access_token']}"}
    userinfo = httpx.get(f"{at}/service/oidc/userinfo", headers=bearer, timeout=60, verify=NO_AUTHORITIES)
    assert userinfo.status_code == 200, userinfo.text
    return str(userinfo.json()["email"])


def test_main_journeys_work_through_transaction_pooler(ours: Installation) -> None:
    people = [f"person-{number}@example.test" for number in range(PEOPLE)]
    with ThreadPoolExecutor(4) as crowd:
        emails = list(crowd.map(lambda email: journey(ours, email), people))
    assert emails == people
    log = (ours.folder / "log").read_text()
    assert Counter(word in log for word in ("prepared statement", "Traceback")) == {False: 2}, log[-3000:]
    assert ours.send("GET", "/health/ready").status_code == 200
