"""Malformed passkey credentials get an error of the interface, never status 500."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.credentials.passkeys import LOGIN, OWN, PasskeyHolder, passkey_holder
from tests.support.credentials.software_authenticator import from_base64url, to_base64url
from tests.support.tenants.tenant_server import NewTenantServer

BOUNDED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20)
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
PARTS = ("clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle", "transports")
OUTER = ("id", "rawId", "type", "response", "authenticatorAttachment")


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> PasskeyHolder:
    return passkey_holder(new_tenant_server).add_passkey()


def assert_refused(who: PasskeyHolder, path: str, credential: Any, *, own: bool = False) -> None:
    answer = who.gives(path, credential, own=own)
    assert (answer.status_code, answer.get_json()["ErrorCode"]) in {(403, 1321), (400, 908), (400, 1214)}, answer.text


@BOUNDED
@given(part=st.sampled_from(OUTER[:4]), value=JSON)
def test_any_value_of_credential_member_is_refused(ada: PasskeyHolder, part: str, value: Any) -> None:
    attestation = ada.device.makes(ada.begins(f"{OWN}/register/passkey/begin", own=True))
    assert_refused(ada, f"{OWN}/register/passkey/finish", {**attestation, part: value}, own=True)
    assert_refused(ada, f"{LOGIN}/autofill/finish", {**valid_credential(ada), part: value})


@BOUNDED
@given(part=st.sampled_from(PARTS[2:5]), value=JSON)
def test_any_value_of_response_member_is_refused(ada: PasskeyHolder, part: str, value: Any) -> None:
    credential = valid_credential(ada)
    credential["response"][part] = value
    assert_refused(ada, f"{LOGIN}/autofill/finish", credential)


@BOUNDED
@given(part=st.sampled_from(PARTS[:4]), at=st.integers(0, 10_000), bits=st.integers(0, 255))
def test_changed_or_truncated_bytes_cause_no_server_error(ada: PasskeyHolder, part: str, at: int, bits: int) -> None:
    own = part == "attestationObject"
    path = f"{OWN}/register/passkey/finish" if own else f"{LOGIN}/autofill/finish"
    credential = (
        ada.device.makes(ada.begins(f"{OWN}/register/passkey/begin", own=True)) if own else valid_credential(ada)
    )
    raw = from_base64url(credential["response"][part])
    at %= len(raw)
    changed = raw[:at] + bytes([raw[at] ^ bits]) + raw[at + 1 :] if bits else raw[:at]
    credential["response"][part] = to_base64url(changed)
    answer = ada.gives(path, credential, own=own)
    assert answer.status_code in ((200, 403) if own else (403,)), answer.text  # an attestation `none` signs nothing


@BOUNDED
@given(value=JSON)
def test_any_value_as_credential_is_refused(ada: PasskeyHolder, value: Any) -> None:
    assert_refused(ada, f"{LOGIN}/finish", value)


def valid_credential(who: PasskeyHolder) -> dict[str, Any]:
    """Return an assertion of the account's passkey."""
    return who.device.shows(who.begins(f"{LOGIN}/autofill/begin"), who.device.passkeys[0])


def test_oversized_response_member_is_refused(ada: PasskeyHolder) -> None:
    credential = valid_credential(ada)
    for part in PARTS[:5]:
        long = {**credential, "response": {**credential["response"], part: "A" * 40_000}}
        assert_refused(ada, f"{LOGIN}/autofill/finish", long)
