"""Approval on a device that holds a key of the account (interface mfa.md section 8, decisions/0101)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.push import PICTURE, REGISTRATION
from app.contract.services_settings import PushAndroid, PushIos, PushSettings
from app.identity.credentials import store
from app.identity.credentials.authenticators.protocol import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.store import Credential
from app.identity.directory.accounts import store as accounts
from app.identity.directory.tenants import tenant_secrets
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.limits import Rate

REQUEST_LIFETIME: Final = timedelta(minutes=3)
"""How long a request may be answered."""
QR_CODE_LIFETIME: Final = timedelta(minutes=15)
_QR_CODE_REUSE: Final = timedelta(
    minutes=10
)  # an older picture is drawn anew, so that what is shown can still be scanned
_MAX_QR_CODES: Final = 5
FATIGUE: Final = Rate(5, 600)
"""Requests for one account, whoever asks: people who are asked again and again approve in the end."""
DRAWN, WAITING, APPROVED, DENIED, FAILED = "drawn", "waiting", "approved", "denied", "failed"
_CHOICES: Final = 3


class Push:
    """A request that is sent to the device and answered there, signed. Each is for one sign-in, and ends the one before."""

    kind = FactorKind.PUSH
    methods = ("swk",)
    off = e.PushOff
    missing = e.PushNotEnrolled
    wrong = ()  # a denial counts when the device says it

    def is_on(self, settings: TenantSettings) -> bool:
        return settings.second_factors.push

    def is_enrolled(self, person: AccountFactors) -> bool:
        return bool(person.enrolled(self.kind))

    def hint(self, person: AccountFactors) -> str | None:
        held = person.enrolled(self.kind)
        return str(held[0].facts["name"]) if held else None

    def recall(self, context: Context, person: AccountFactors) -> FactorChallenge:
        device = _device(person)
        if device is None:
            return _qr_code(context, person)
        request, app = _current_request(context, person), _app_name(context)
        if request is None:
            return FactorChallenge(targets=(device.facts["name"],), app=app)
        return _request_challenge(
            device,
            request.facts.get("number"),
            {continuation_tokens.OPEN: WAITING}.get(request.state, request.state),
            app,
        )

    def begin(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:
        """Draw the picture; once a device scanned it, ask that device."""
        return _qr_code(context, person) if _device(person) is None else self.challenge(context, person, options)

    def enrol(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        """Enrol the device that scanned the picture of this very sign-in, once it approved."""
        device = _device(person)
        if device is None:
            raise e.PushPending
        self.verify(context, person, answer)
        store.remove(context, person.account.uid, (self.kind,), but=device.credential_id)
        if not store.mark_enrolled(context, device):
            raise e.PushNotEnrolled

    def challenge(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        device = _device(person)
        if device is None:
            raise e.PushNotEnrolled
        context.spend("push", FATIGUE, person.account.uid)
        number = send_request(context, person, device)
        return _request_challenge(device, number, WAITING, _app_name(context))

    def verify(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:  # noqa: ARG002 - the protocol's signature
        _settings(context)
        request, device = _current_request(context, person), _device(person)
        if request is None or device is None or request.facts["device"] != device.credential_id:
            raise e.WrongPushToken
        if request.state != APPROVED:
            raise {DENIED: e.PushDenied, FAILED: e.PushFailed}.get(request.state, e.PushPending)
        accounts.change(context, person.account.uid, {})  # everybody locks the account first, and its tickets after it
        if not continuation_tokens.spend(context, request):
            raise e.PushAnswered


def send_request(context: Context, person: AccountFactors, device: Credential) -> str | None:
    """Ask a device, and return the number that our page shows, where it shows one. Raises PushMisconfigured."""
    uid, settings = person.account.uid, _settings(context)
    key = _aws_key(context)
    platform = push_platform(settings, str(device.facts["type"]))
    numbers = _random_numbers() if context.visit is not None and settings.number_matching else []
    number = numbers[randomness.below(_CHOICES)] if numbers else None
    continuation_tokens.revoke_all(context, uid, ContinuationPurpose.PUSH)
    facts = {"for": person.sign_in, "device": device.credential_id, "number": number}
    request = continuation_tokens.issue(context, ContinuationPurpose.PUSH, uid, lifetime=REQUEST_LIFETIME, facts=facts)
    sent = {**key, **_platform(platform), "region": settings.region, "device_token": device.facts["token"]}
    context.outbox.post("push", {**sent, **_payload(context, person, request, numbers)})
    context.audit.record("second_factor.asked", uid=uid, kind=FactorKind.PUSH)
    return number


def by_registration_token(context: Context, token: str) -> Credential:
    """Return the picture's credential that a device may register with. Raises WrongPushToken: there is none, or it is over."""
    found = store.by_lookup(context, FactorKind.PUSH, randomness.digest(token)) if len(token) <= 100 else None
    if found is None or found.created_at + QR_CODE_LIFETIME <= context.now:
        raise e.WrongPushToken
    return found


def registration_url(context: Context, token: str) -> str:
    """Return what the picture holds."""
    query = urlencode({"apikey": context.tenant.api_key, "token": token})
    return f"{context.services.settings.base_url}{REGISTRATION}?{query}"


def qr_code_url(context: Context, uri: str) -> str:
    """Return where the picture is, for programs: `PushQRCode`."""
    size = context.tenant.settings.push.qr_code_width if context.tenant.settings.push else 250
    return f"{uri.replace(REGISTRATION, PICTURE)}&size={size}"


def push_platform(settings: PushSettings, device_type: str) -> PushAndroid | PushIos:
    """Return the application that reaches devices of a type. Raises PushMisconfigured."""
    is_apple = any(word in device_type.lower() for word in ("ios", "iphone", "ipad", "apple"))
    found: PushAndroid | PushIos = settings.ios if is_apple else settings.android
    if not (found.enabled and found.platform_arn and settings.region):
        raise e.PushMisconfigured
    return found


def _settings(context: Context) -> PushSettings:
    held = context.tenant.settings.push
    if held is None:
        raise e.PushMisconfigured
    return held


def _device(person: AccountFactors) -> Credential | None:
    """The device that is asked: the enrolled one, or the one that scanned this sign-in's picture."""
    held = person.enrolled(FactorKind.PUSH)
    if held:
        return held[0]
    scanned = [
        one for one in person.begun(FactorKind.PUSH) if one.facts.get("name") and _belongs_to_sign_in(one, person)
    ]
    return scanned[-1] if scanned else None


def _belongs_to_sign_in(begun: Credential, person: AccountFactors) -> bool:
    return bool(begun.facts.get("for") == person.sign_in)


def _qr_code(context: Context, person: AccountFactors) -> FactorChallenge:
    """The same picture for a while: pages are reloaded. Each sign-in has its own, for whoever has the password alone may have
    one drawn, and it must enrol nothing in the owner's.
    """
    _settings(context)
    uid = person.account.uid
    begun = person.begun(FactorKind.PUSH)
    mine = [one for one in begun if context.now < one.created_at + _QR_CODE_REUSE and _belongs_to_sign_in(one, person)]
    if mine:
        uri = registration_url(context, store.decrypt_secret(context, mine[-1]).decode())
    else:
        for old in begun[: 1 - _MAX_QR_CODES]:
            store.remove(context, uid, (FactorKind.PUSH,), old.credential_id)
        token, facts = randomness.guid(), {"for": person.sign_in}
        lookup = randomness.digest(token)
        store.add(context, uid, FactorKind.PUSH, facts=facts, secret=token.encode(), lookup=lookup)
        uri = registration_url(context, token)
    held = _settings(context)
    stores = {"Google Play": held.android.store_url, "App Store": held.ios.store_url}
    there = {name: address for name, address in stores.items() if address}
    return FactorChallenge(uri=uri, state=DRAWN, app=_app_name(context), stores=there)


def _request_challenge(device: Credential, number: str | None, state: str, app: str) -> FactorChallenge:
    name = str(device.facts["name"])
    return FactorChallenge(sent_to=name, targets=(name,), number=number, state=state, app=app)


def _app_name(context: Context) -> str:
    return (
        context.tenant.settings.push.app_name if context.tenant.settings.push else ""
    ) or context.tenant.display_name


def _current_request(context: Context, person: AccountFactors) -> ContinuationToken | None:
    """The request of this sign-in, if no later one ended it."""
    if person.sign_in is None:
        return None
    held = continuation_tokens.of_account(context, ContinuationPurpose.PUSH, person.account.uid)
    return next((one for one in held if one.facts.get("for") == person.sign_in), None)


def _random_numbers() -> list[str]:
    """Two digits each, all different."""
    drawn: dict[str, None] = {}
    while len(drawn) < _CHOICES:
        drawn[str(10 + randomness.below(90))] = None
    return list(drawn)


def _aws_key(context: Context) -> dict[str, str]:
    """What it takes to send the message travels with it: the outbox lies sealed."""
    held = tenant_secrets.secrets_of(context.services.encryption, context.tenant, "push")
    if not (held.get("access_key_id") and held.get("secret_access_key")):
        raise e.PushMisconfigured
    return {name: held[name] for name in ("access_key_id", "secret_access_key")}


def _platform(platform: PushAndroid | PushIos) -> dict[str, Any]:
    apple = (
        {"is_sandbox": platform.is_sandbox, "bundle_id": platform.bundle_id} if isinstance(platform, PushIos) else None
    )
    return {"platform_arn": platform.platform_arn, "apple": apple}


def _payload(
    context: Context, person: AccountFactors, request: ContinuationToken, numbers: list[str]
) -> dict[str, Any]:
    """What the device is told. The token is the request's own: that of the sign-in stays with the browser."""
    settings, account = _settings(context), person.account
    place = context.services.locations.place_of(context.address)
    said = {
        "secondfactorauthenticationtoken": request.text,
        "identifier": account.email or account.username or account.phone or account.uid,
        "browser": context.agent[:200],
        "location": ", ".join(one for one in (place.city, place.country) if one),
        "timestamp": str(int(context.now.timestamp())),
        "apikey": context.tenant.api_key,
        "title": _app_name(context),
        **({"numbers": ",".join(numbers)} if numbers else {}),
    }
    return {
        "message": settings.message,
        "data": said,
        "lives_for_seconds": int(REQUEST_LIFETIME.total_seconds()),
        "expires_at": request.expires_at.timestamp(),
    }


def refuse_unreachable(context: Context, device_type: str) -> None:
    """Raise PushMisconfigured where the tenant has no service that reaches devices of a type."""
    push_platform(_settings(context), device_type)
