"""What an authorization code stores of its request, and that codes of older versions are read."""

from __future__ import annotations

from app.identity.protocols.oauth.authorize.request import CheckedRequest
from app.identity.protocols.oauth.tokens.authorization_codes import GrantedRequest

REQUEST = CheckedRequest(
    client_id="shop",
    issuer="https://acme.example",
    redirect_uri="https://shop.example/cb",
    response_mode="fragment",
    scope=("openid", "email"),
    resource="https://api.example",
    authorization_details=({"type": "payment", "amount": 5},),
    state="s",
    nonce="n",
    code_challenge="c",
    dpop_jkt="j",
    max_age=60,
    acr="1",
    wants_two=True,
    subject="uid",
    org_id="org_page",
    org_uid="uid",
    userinfo_claims=("email",),
    id_token_claims=("name",),
    id_token_values={"name": ["Ada"]},
)
STORED = {
    "issuer": "https://acme.example",
    "redirect_uri": "https://shop.example/cb",
    "scope": ["openid", "email"],
    "resource": "https://api.example",
    "authorization_details": [{"type": "payment", "amount": 5}],
    "nonce": "n",
    "code_challenge": "c",
    "dpop_jkt": "j",
    "userinfo_claims": ["email"],
    "id_token_claims": ["name"],
    "id_token_values": {"name": ["Ada"]},
    "auth_time": 1,
    "amr": ["pwd"],
    "acr": "2",
    "org_id": "org_1",
}
OF_OLDER_VERSIONS = {
    "client_id": "shop",
    "response_mode": "fragment",
    "max_age": 60,
    "wants_two": True,
    "subject": "uid",
}
"""Parts of the request that older versions stored, too."""


def test_code_stores_what_its_exchange_needs() -> None:
    granted = REQUEST.granted(auth_time=1, amr=["pwd"], acr="2", org_id="org_1")
    assert granted.to_stored() == STORED
    assert GrantedRequest.from_stored(STORED) == granted


def test_code_of_an_older_version_is_read() -> None:
    assert GrantedRequest.from_stored(STORED | OF_OLDER_VERSIONS) == GrantedRequest.from_stored(STORED)


def test_code_of_a_short_request_stores_no_defaults() -> None:
    request = CheckedRequest(client_id="shop", issuer="i", redirect_uri="r")
    granted = request.granted(auth_time=1, amr=[], acr=None, org_id=None)
    assert granted.to_stored() == {"issuer": "i", "redirect_uri": "r", "auth_time": 1, "amr": []}
    assert GrantedRequest.from_stored(granted.to_stored()) == granted


def test_plain_challenge_method_is_stored() -> None:
    request = CheckedRequest(client_id="shop", issuer="i", redirect_uri="r", code_challenge_method="plain")
    granted = request.granted(auth_time=1, amr=[], acr=None, org_id=None)
    assert granted.to_stored()["code_challenge_method"] == "plain"
    assert GrantedRequest.from_stored(granted.to_stored()) == granted
