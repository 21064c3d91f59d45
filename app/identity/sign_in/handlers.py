"""The operations of sign-in."""

from app.contract import errors as e
from app.contract import sign_in as contract
from app.contract.groups import NO_SMS
from app.contract.profile import Profile
from app.identity.accounts import service as accounts
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.registration import service as registration
from app.identity.sign_in import by_phone, changed, identifiers, recovered, service, verified
from app.identity.sign_in.locks import Proof
from app.identity.verification.service import Wish
from app.kit.clock import iso
from app.kit.server import Server

ORIGIN = ("x-origin-ip", "x-origin-user-agent", "x-origin-accept-language", "x-origin-host", "x-platform")
_MOST_ORIGIN_LETTERS = 200


def register(server: Server) -> None:
    """Implement the area's operations."""
    server.implements(contract.with_password)(with_password)
    verified.register(server)
    recovered.register(server)
    changed.register(server)
    by_phone.register(server)


def _wish(req: contract.PasswordLogin) -> Wish:
    return Wish(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        is_voice_otp=req.is_voice_otp,
        sends_sms=not req.has_option(NO_SMS),
    )


def _note_origin(call: Call, login_url: str | None) -> None:
    """Note from where a server says that its visitor comes, and at which page. Nothing believes it: whoever has the API key
    may say it."""
    held = call.raw.headers
    told = {name.removeprefix("x-").replace("-", "_"): held[name] for name in ORIGIN if name in held}
    if (page := registration.source_of(login_url)) != registration.API:
        told["login_url"] = page
    if told:
        call.ledger.record("sign_in.origin", **{name: text[:_MOST_ORIGIN_LETTERS] for name, text in told.items()})


def with_password(call: Call, req: contract.PasswordLogin) -> contract.Login:
    proof = Proof(req.security_answer, captcha.of_parameters(req))
    settings = call.tenant.settings
    identifier, hides = identifiers.stated(settings, req), settings.hide_unknown_accounts
    _note_origin(call, req.login_url)
    if req.password_delegation:
        raise e.DelegationFailed
    account = service.verify(
        call, identifier, req.password, proof, hides_unknown=hides, wish=_wish(req), is_silent=req.is_silent
    )
    issued = service.issue(call, account)
    profile = accounts.signed_in_profile(call, account)
    return contract.Login(
        profile=Profile.of(accounts.project(profile, req.fields_)),
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
    )
