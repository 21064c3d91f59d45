"""Requests of push devices: registration, and approval or denial of a sign-in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.push_operations import DeviceAnswer, DeviceRegistration
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators import push
from app.identity.credentials.second_factors.authenticators.push import APPROVED, DENIED, FAILED
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken

_KEY_BITS: Final = range(2048, 4097)
_CLOSED_ERRORS: Final = {APPROVED: errors.PushAnswered, DENIED: errors.PushDenied, FAILED: errors.PushDenied}


def register_device(context: Context, req: DeviceRegistration) -> Account | None:
    """Store the device that scanned a QR code. Return its account if that enrols it.

    A QR code of a signed-in account enrols the device at once. A QR code of a sign-in sends the device a request, and the first
    approval enrols it.

    Raises:
        PushOff, PushMisconfigured: by the tenant's settings. WrongPushToken: the QR code is unknown or was scanned before.
        BadParameter: the key is invalid.
    """
    second_factors.enabled_authenticator(context, FactorKind.PUSH)
    pending = push.by_registration_token(context, req.token)
    push.refuse_unreachable(context, req.device_type)
    _public_key(req.public_key)
    account = account_store.by_uid(context, pending.uid)
    if account is None:
        raise errors.WrongPushToken
    facts: dict[str, Any] = {
        "for": pending.facts.get("for"), "name": req.device_name, "type": req.device_type, "token": req.device_token,
        "key": req.public_key,
    }  # fmt: skip
    account_store.lock(context, account.uid)  # lock order: the account, then its credentials
    if not credential_store.advance_counter(context, pending, 1, facts=facts, lookup=None, sealed=None):
        raise errors.WrongPushToken
    if facts["for"] is None:
        _enrol(context, account, pending)
        return account
    factors = second_factors.of_account(context, account, sign_in=facts["for"])
    push.send_request(context, factors, replace(pending, facts=facts))
    return None


def answer_request(context: Context, req: DeviceAnswer) -> None:
    """Approve or deny a sign-in as the device decides. A denial counts as a failed attempt of the account.

    Raises:
        WrongPushToken: the request is unknown or expired. PushAnswered, PushDenied: it was answered before.
        PushFailed: the signature is not the device's; or the approval has a number other than the page's, which closes the
            request.
    """
    request, device = _find_open_request(context, req.second_factor_authentication_token)
    account = account_store.by_uid(context, request.uid)
    if account is None:
        raise errors.WrongPushToken
    number = request.facts.get("number")
    signed_text = req.verify + req.second_factor_authentication_token + (req.number or "")
    if not _is_signed(str(device.facts["key"]), signed_text, req.signature):
        context.audit.record("second_factor.forged", uid=account.uid, kind=FactorKind.PUSH)
        raise errors.PushFailed
    match req.verify.strip().lower():
        case "yes" if number is None or req.number == number:
            _set_state(context, request, APPROVED)
        case "yes":
            _fail_request(context, account, request)
            raise errors.PushFailed
        case "no":
            account_store.lock(context, account.uid)
            _set_state(context, request, DENIED)
            _count_denial(context, account)
        case _:
            raise errors.BadParameter.names("verify")


def _find_open_request(context: Context, token: str) -> tuple[ContinuationToken, Credential]:
    request = continuation_tokens.find(context, ContinuationPurpose.PUSH, token)
    if request is None or request.is_expired(context.now):
        raise errors.WrongPushToken
    if request.state in _CLOSED_ERRORS:
        raise _CLOSED_ERRORS[request.state]
    devices = credential_store.by_kind(context, request.uid, FactorKind.PUSH)
    device = next((item for item in devices if item.credential_id == request.facts["device"]), None)
    if device is None:
        raise errors.WrongPushToken
    return request, device


def _set_state(context: Context, request: ContinuationToken, state: str) -> None:
    """Set the state of a request. Only one of several concurrent answers succeeds."""
    if not continuation_tokens.change_state(context, request, state):
        raise errors.PushAnswered


def _fail_request(context: Context, account: Account, request: ContinuationToken) -> None:
    """Close a request whose number did not match: its owner sees another page than the sign-in's, a push fatigue attack."""
    with context.work.separate_transaction() as transaction:
        separate_context = context.within(transaction)
        if continuation_tokens.change_state(separate_context, request, FAILED):
            _count_denial(separate_context, account)


def _count_denial(context: Context, account: Account) -> None:
    counted = login_records.count_failure(context, account)
    context.audit.record("second_factor.denied", uid=account.uid, kind=FactorKind.PUSH, attempts=counted.attempts)


def _enrol(context: Context, account: Account, pending: Credential) -> None:
    credential_store.remove(context, account.uid, (FactorKind.PUSH,), except_id=pending.credential_id)
    credential_store.mark_enrolled(context, pending)
    context.audit.record("second_factor.enrolled", uid=account.uid, kind=FactorKind.PUSH)


def _public_key(text: str) -> RSAPublicKey:
    """Return a device's key. Raises BadParameter unless it is an RSA key of 2048 to 4096 bits."""
    try:
        key = load_der_public_key(bytes.fromhex(text))
    except Exception:  # noqa: BLE001 - the library documents no error for malformed keys
        raise errors.BadParameter.names("publicKey") from None
    if not isinstance(key, RSAPublicKey) or key.key_size not in _KEY_BITS:
        raise errors.BadParameter.names("publicKey")
    return key


def _is_signed(key: str, signed_text: str, signature: str) -> bool:
    try:
        _public_key(key).verify(
            bytes.fromhex(signature), signed_text.encode("utf-8", "surrogatepass"), PKCS1v15(), SHA256()
        )
    except (InvalidSignature, ValueError):
        return False
    return True
