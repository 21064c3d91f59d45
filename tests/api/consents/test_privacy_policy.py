"""A strict privacy policy blocks each operation with an access token until it is accepted."""

from typing import Any

import pytest

from app.contract import errors
from app.contract.auth import AuthScheme
from app.contract.catalogue import CATALOGUE, load_catalogue
from tests.support.accounts.registering import ADA, register
from tests.support.accounts.self_service import OWN, ProfilePerson
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, answered, refused

load_catalogue()
BASE = "/identity/v2/auth"
TOKEN, ACCEPT = f"{BASE}/access_token", f"{BASE}/privacypolicy/accept"
POLICY = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}
EXEMPT = {"U27", "U42", "U43", "U44", ""}
"""Accepting the policy, reading and revoking the token, and /service/oidc/userinfo."""
BLOCKED: list[tuple[str, str, Any]] = [
    ("GET", OWN, None),
    ("PUT", OWN, {"FirstName": "Eve"}),
    ("PUT", OWN, {"Password": "Other-kettle-92"}),
    ("PUT", f"{BASE}/username", {"username": "eve"}),
    ("POST", f"{BASE}/email", {"email": "eve@example.test", "type": "Secondary"}),
    ("DELETE", f"{BASE}/email", {"email": ADA}),
    ("PUT", f"{BASE}/password/change", {"oldpassword": PASSWORD, "newpassword": "Other-kettle-92"}),
    ("DELETE", OWN, None),
    ("GET", f"{OWN}/otp", None),
    ("POST", f"{OWN}/delete", {"otp": "123456"}),
    ("PUT", f"{OWN}/unlock", {"securityanswer": {"pet": "Rex"}}),
    ("GET", f"{OWN}/sendwelcomeemail", None),
    ("GET", f"{BASE}/email/sendverificationemail", None),
    ("GET", f"{BASE}/privacypolicy/history", None),
    ("GET", f"{BASE}/securityquestion/accesstoken", None),
    ("GET", f"{TOKEN}/sliding_token", None),
]


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> ProfilePerson:
    """An account that accepted no policy, with the access token from the refused sign-in."""
    settings = {"privacy_policy": POLICY, "security_questions": {"pet": "First pet?"}}
    ada = ProfilePerson(new_tenant_server(**settings), UserName="ada", Email=[{"Type": "Primary", "Value": ADA}])
    answer = ada.server.send("POST", f"{BASE}/login", {"email": ADA, "password": PASSWORD}, with_secret=False)
    assert refused(answer) == (403, 1194)
    ada.token = answer.get_json()["Data"]["access_token"]
    return ada


def test_token_is_blocked_until_policy_is_accepted(ada: ProfilePerson) -> None:
    before = ada.server.read(ada.uid)
    for method, path, body in BLOCKED:
        assert ada.refusal(method, path, body) == (403, 1194), (method, path)
    after = ada.server.read(ada.uid)
    assert (after["UserName"], after["Email"], after["FirstName"]) == ("ada", before["Email"], before["FirstName"])
    assert answered(ada.send("GET", TOKEN))["access_token"] == ada.token
    assert answered(ada.send("GET", f"{TOKEN}/validate"))["access_token"] == ada.token
    assert answered(ada.send("GET", ACCEPT))["UserName"] == "ada"
    answered(ada.send("PUT", f"{BASE}/username", {"username": "countess"}))
    assert answered(ada.send("GET", OWN))["UserName"] == "countess"


def test_token_of_refused_sign_in_can_be_revoked(ada: ProfilePerson) -> None:
    answered(ada.send("GET", f"{TOKEN}/invalidate"))
    assert ada.refusal("GET", ACCEPT) == (401, 1409)


def test_closed_account_gets_no_policy_error(ada: ProfilePerson) -> None:
    ada.server.update(ada.uid, {"IsActive": False})
    assert ada.refusal("GET", OWN) == (401, 1409)


def test_every_token_operation_declares_policy_error() -> None:
    """A new operation that does not declare the policy error would be exempt from the policy."""
    exempt = {
        operation.documentation.row
        for operation in CATALOGUE
        if AuthScheme.ACCESS_TOKEN in operation.admission.auth.schemes()
        and errors.PrivacyPolicyOutdated not in operation.every_error
    }
    assert exempt == EXEMPT


def test_registration_without_acceptance_of_policy_is_refused(new_tenant_server: NewTenantServer) -> None:
    server = new_tenant_server(privacy_policy=POLICY, email_verification="disabled")
    assert refused(register(server)) == (403, 1196)
    assert refused(register(server, AcceptPrivacyPolicy=False)) == (403, 1196)
    answer = answered(register(server, AcceptPrivacyPolicy=True))
    assert answered(server.send("GET", OWN, bearer=answer["Data"]["access_token"]))["PrivacyPolicy"]["Version"] == "1"
