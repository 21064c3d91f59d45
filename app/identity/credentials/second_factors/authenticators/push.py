"""Push approval on a registered device, signed with the device's key (decision 0101)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.push_operations import PICTURE, REGISTRATION
from app.contract.second_factors.service_settings import PushAndroid, PushIos, PushSettings
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    Authenticator,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.directory.accounts import account_store
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.limits.rate_limits import Rate

REQUEST_LIFETIME: Final = timedelta(minutes=3)
"""How long a request can be answered."""
QR_CODE_LIFETIME: Final = timedelta(minutes=15)
_QR_CODE_REUSE: Final = timedelta(minutes=10)
"""An older code is replaced, so that a displayed code can still be scanned."""
_MAX_QR_CODES: Final = 5
FATIGUE: Final = Rate(5, 600)
"""Requests to one account's device, against push fatigue attacks."""
QR_CODE_SHOWN, PENDING, APPROVED, DENIED, FAILED = "drawn", "waiting", "approved", "denied", "failed"
_NUMBER_COUNT: Final = 3


class PushAuthenticator(Authenticator):
    """A signed approval on the device. Each request belongs to one sign-in and replaces the previous one.
    `push_approval` counts denials."""

    kind = FactorKind.PUSH
    amr = ("swk",)
    disabled_error = errors.PushOff
    not_enrolled_error = errors.PushNotEnrolled
    enrolled_members = ("is_push_device_registered",)

    def hint(self, factors: AccountFactors) -> str | None:
        devices = factors.enrolled(self.kind)
        return str(devices[0].facts["name"]) if devices else None

    def describe(self, context: Context, factors: AccountFactors) -> FactorChallenge:
        device = _device(factors)
        if device is None:
            return _qr_code(context, factors)
        request, app = _current_request(context, factors), _app_name(context)
        if request is None:
            return FactorChallenge(targets=(device.facts["name"],), app=app)
        return _request_challenge(
            device,
            request.facts.get("number"),
            {continuation_tokens.OPEN: PENDING}.get(request.state, request.state),
            app,
        )

    def begin_enrolment(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Return the QR code; once a device has scanned it, send that device a request."""
        return _qr_code(context, factors) if _device(factors) is None else self.challenge(context, factors, options)

    def enrol(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        """Enrol the device that scanned this sign-in's QR code, after its first approval."""
        device = _device(factors)
        if device is None:
            raise errors.PushPending
        self.verify(context, factors, response)
        credential_store.remove(context, factors.account.uid, (self.kind,), except_id=device.credential_id)
        if not credential_store.mark_enrolled(context, device):
            raise errors.PushNotEnrolled

    def challenge(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the base class's signature
        device = _device(factors)
        if device is None:
            raise errors.PushNotEnrolled
        context.count_against("push", FATIGUE, factors.account.uid)
        number = send_request(context, factors, device)
        return _request_challenge(device, number, PENDING, _app_name(context))

    def verify(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:  # noqa: ARG002 - the base class's signature
        _settings(context)
        request, device = _current_request(context, factors), _device(factors)
        if request is None or device is None or request.facts["device"] != device.credential_id:
            raise errors.WrongPushToken
        if request.state != APPROVED:
            raise {DENIED: errors.PushDenied, FAILED: errors.PushFailed}.get(request.state, errors.PushPending)
        account_store.lock_before_own_rows(context, factors.account.uid)
        if not continuation_tokens.spend(context, request):
            raise errors.PushAnswered


AUTHENTICATOR: Final = PushAuthenticator()


def send_request(context: Context, factors: AccountFactors, device: Credential) -> str | None:
    """Send a request to a device. Return the number to match on a hosted page, if any. Raises PushMisconfigured."""
    uid, settings = factors.account.uid, _settings(context)
    key = _aws_key(context)
    platform = push_platform(settings, str(device.facts["type"]))
    numbers = _random_numbers() if context.visit is not None and settings.number_matching else []
    number = numbers[randomness.below(_NUMBER_COUNT)] if numbers else None
    continuation_tokens.revoke_all(context, uid, ContinuationPurpose.PUSH)
    facts = {"for": factors.sign_in, "device": device.credential_id, "number": number}
    request = continuation_tokens.issue(context, ContinuationPurpose.PUSH, uid, lifetime=REQUEST_LIFETIME, facts=facts)
    sent = {**key, **_platform(platform), "region": settings.region, "device_token": device.facts["token"]}
    context.outbox.post("push", {**sent, **_payload(context, factors, request, numbers)})
    context.audit.record("second_factor.asked", uid=uid, kind=FactorKind.PUSH)
    return number


def by_registration_token(context: Context, token: str) -> Credential:
    """Return the pending credential of a scanned QR code. Raises WrongPushToken if it is unknown or expired."""
    pending = (
        credential_store.by_lookup(context, FactorKind.PUSH, randomness.digest(token)) if len(token) <= 100 else None
    )
    if pending is None or pending.created_at + QR_CODE_LIFETIME <= context.now:
        raise errors.WrongPushToken
    return pending


def registration_url(context: Context, token: str) -> str:
    """Return the content of the QR code."""
    query = urlencode({"apikey": context.tenant.api_key, "token": token})
    return f"{context.services.settings.base_url}{REGISTRATION}?{query}"


def qr_code_url(context: Context, uri: str) -> str:
    """Return the URL of the QR code image, for programs: `PushQRCode`."""
    size = context.tenant.settings.push.qr_code_width if context.tenant.settings.push else 250
    return f"{uri.replace(REGISTRATION, PICTURE)}&size={size}"


def push_platform(settings: PushSettings, device_type: str) -> PushAndroid | PushIos:
    """Return the SNS platform application for a device type. Raises PushMisconfigured."""
    is_ios = any(word in device_type.lower() for word in ("ios", "iphone", "ipad", "apple"))
    platform: PushAndroid | PushIos = settings.ios if is_ios else settings.android
    if not (platform.enabled and platform.platform_arn and settings.region):
        raise errors.PushMisconfigured
    return platform


def _settings(context: Context) -> PushSettings:
    settings = context.tenant.settings.push
    if settings is None:
        raise errors.PushMisconfigured
    return settings


def _device(factors: AccountFactors) -> Credential | None:
    """Return the enrolled device, or the device that scanned this sign-in's QR code."""
    if enrolled := factors.enrolled(FactorKind.PUSH):
        return enrolled[0]
    scanned = [
        item
        for item in factors.pending(FactorKind.PUSH)
        if item.facts.get("name") and _belongs_to_sign_in(item, factors)
    ]
    return scanned[-1] if scanned else None


def _belongs_to_sign_in(pending: Credential, factors: AccountFactors) -> bool:
    return bool(pending.facts.get("for") == factors.sign_in)


def _qr_code(context: Context, factors: AccountFactors) -> FactorChallenge:
    """Return a QR code, the same for some minutes, because pages are reloaded. Each sign-in has its own: else an attacker with
    the password could have a code created and wait for the owner's sign-in to enrol it.
    """
    _settings(context)
    uid = factors.account.uid
    pending = factors.pending(FactorKind.PUSH)
    reusable = [
        item
        for item in pending
        if context.now < item.created_at + _QR_CODE_REUSE and _belongs_to_sign_in(item, factors)
    ]
    if reusable:
        uri = registration_url(context, credential_store.decrypt_secret(context, reusable[-1]).decode())
    else:
        for old in pending[: 1 - _MAX_QR_CODES]:
            credential_store.remove(context, uid, (FactorKind.PUSH,), old.credential_id)
        token, facts = randomness.guid(), {"for": factors.sign_in}
        lookup = randomness.digest(token)
        credential_store.add(context, uid, FactorKind.PUSH, facts=facts, secret=token.encode(), lookup=lookup)
        uri = registration_url(context, token)
    settings = _settings(context)
    stores = {"Google Play": settings.android.store_url, "App Store": settings.ios.store_url}
    store_urls = {name: address for name, address in stores.items() if address}
    return FactorChallenge(uri=uri, state=QR_CODE_SHOWN, app=_app_name(context), stores=store_urls)


def _request_challenge(device: Credential, number: str | None, state: str, app: str) -> FactorChallenge:
    name = str(device.facts["name"])
    return FactorChallenge(sent_to=name, targets=(name,), number=number, state=state, app=app)


def _app_name(context: Context) -> str:
    return (
        context.tenant.settings.push.app_name if context.tenant.settings.push else ""
    ) or context.tenant.display_name


def _current_request(context: Context, factors: AccountFactors) -> ContinuationToken | None:
    """Return the open request of this sign-in, if no later one replaced it."""
    if factors.sign_in is None:
        return None
    requests = continuation_tokens.of_account(context, ContinuationPurpose.PUSH, factors.account.uid)
    return next((request for request in requests if request.facts.get("for") == factors.sign_in), None)


def _random_numbers() -> list[str]:
    """Return distinct numbers of two digits."""
    numbers: dict[str, None] = {}
    while len(numbers) < _NUMBER_COUNT:
        numbers[str(10 + randomness.below(90))] = None
    return list(numbers)


def _aws_key(context: Context) -> dict[str, str]:
    """Return the tenant's AWS key, which the encrypted outbox message carries for its sender."""
    secrets = tenant_secrets.secrets_of(context.services.encryption, context.tenant, "push")
    if not (secrets.get("access_key_id") and secrets.get("secret_access_key")):
        raise errors.PushMisconfigured
    return {name: secrets[name] for name in ("access_key_id", "secret_access_key")}


def _platform(platform: PushAndroid | PushIos) -> dict[str, Any]:
    apple = (
        {"is_sandbox": platform.is_sandbox, "bundle_id": platform.bundle_id} if isinstance(platform, PushIos) else None
    )
    return {"platform_arn": platform.platform_arn, "apple": apple}


def _payload(
    context: Context, factors: AccountFactors, request: ContinuationToken, numbers: list[str]
) -> dict[str, Any]:
    """Return the push message. Its token is the request's; the sign-in's token stays with the browser."""
    settings, account = _settings(context), factors.account
    location = context.services.locations.place_of(context.ip_address)
    fields = {
        "secondfactorauthenticationtoken": request.text,
        "identifier": account.email or account.username or account.phone or account.uid,
        "browser": context.agent[:200],
        "location": ", ".join(item for item in (location.city, location.country) if item),
        "timestamp": str(int(context.now.timestamp())),
        "apikey": context.tenant.api_key,
        "title": _app_name(context),
        **({"numbers": ",".join(numbers)} if numbers else {}),
    }
    return {
        "message": settings.message,
        "data": fields,
        "lives_for_seconds": int(REQUEST_LIFETIME.total_seconds()),
        "expires_at": request.expires_at.timestamp(),
    }


def refuse_unreachable(context: Context, device_type: str) -> None:
    """Raise PushMisconfigured if the tenant has no platform application for a device type."""
    push_platform(_settings(context), device_type)
