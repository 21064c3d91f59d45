"""Random bodies and parameters are answered with declared errors, never with a server error."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.contract.profile import FIELDS
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, TenantServer

pytestmark = pytest.mark.both_databases("first")

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
NAMED = (
    *FIELDS,
    "DisableLogin",
    "SecurityQuestionAnswer",
    "PhoneId",
    "email",
    "PASSWORD",
    "Consents",
    "PINInfo",
    "uid",
)
BODIES = st.dictionaries(st.sampled_from(NAMED) | st.text(max_size=10), JSON, max_size=5)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)

# All examples of a test share one tenant on purpose.
fuzz = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def uid(acme: TenantServer) -> str:
    return str(acme.create()["Uid"])


@fuzz
@given(BODIES)
def test_random_account_never_causes_server_error(acme: TenantServer, body: dict[str, Any]) -> None:
    answer = acme.send("POST", MANAGE, {"Password": PASSWORD, **body})
    assert answer.status_code in (200, 400, 403), answer.text
    assert answer.status_code == 200 or answer.get_json()["ErrorCode"] not in (None, 950)


@fuzz
@given(BODIES, st.booleans())
def test_random_change_leaves_readable_profile(
    acme: TenantServer, uid: str, body: dict[str, Any], clears: bool
) -> None:
    answer = acme.send("PUT", f"{MANAGE}/{uid}", body, nullsupport=str(clears).lower())
    assert answer.status_code in (200, 400, 403), answer.text
    assert set(acme.read(uid)) == set(FIELDS)


@fuzz
@given(st.sampled_from(["email", "username", "phone", "fields", "uid"]), TEXTS, st.sampled_from(["GET", "DELETE"]))
def test_random_lookup_never_causes_server_error(acme: TenantServer, name: str, text: str, method: str) -> None:
    named: dict[str, Any] = {name: text}
    answer = acme.send(method, MANAGE, **named)
    assert answer.status_code in (400, 403), answer.text


@fuzz
@given(st.sampled_from(["validate", "invalidate", "refresh", "activesession"]), TEXTS)
def test_random_token_never_causes_server_error(acme: TenantServer, what: str, text: str) -> None:
    for name in ("access_token", "token", "accountid", "profileid"):
        named: dict[str, Any] = {name: text}
        answer = acme.send("GET", f"/api/v2/access_token/{what}", **named)
        assert answer.status_code in (400, 403), answer.text
