"""The operations of sign-in."""

from app.contract import errors as e
from app.contract import sign_in as contract
from app.contract.groups import NO_SMS
from app.contract.second_factors.challenge import FactorLogin
from app.contract.second_factors.signing_in import with_password as with_factors_stated
from app.identity.authenticators.protocol import Wish as FactorWish
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.registration import service as registration
from app.identity.second_factors import service as factors
from app.identity.sign_in import (
    by_phone,
    by_pin,
    changed,
    consented,
    demands,
    entry,
    factor_rows,
    identifiers,
    recovered,
    service,
    verified,
)
from app.identity.sign_in.locks import Proof
from app.identity.sign_in.passkeys import entering, factor, lost, sign_up
from app.identity.sign_in.second_factor import Way
from app.identity.sign_in.service import Passed
from app.identity.verification.service import Wish
from app.kit.server import Server

ORIGIN = ("x-origin-ip", "x-origin-user-agent", "x-origin-accept-language", "x-origin-host", "x-platform")
_MOST_ORIGIN_LETTERS = 200


def register(server: Server) -> None:
    """Implement the area's operations."""
    server.implements(contract.with_password)(with_password)
    server.implements(with_factors_stated)(with_factors)
    factor_rows.register(server)
    verified.register(server)
    recovered.register(server)
    changed.register(server)
    by_phone.register(server)
    consented.register(server)
    by_pin.register(server)
    for rows in (sign_up, entering, lost, factor):
        rows.register(server)


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
    """A tenant that has second factors is asked at the login that knows of them (interface mfa.md section 1)."""
    if call.tenant.settings.two_factor != "disabled":
        raise e.TwoFactorOn
    passed, way = _passed(call, req)
    if passed.wanted is not None:
        return demands.answered(call, passed.wanted, way, req)
    return entry.plain(entry.session(call, passed.account, way, req.fields_))


def with_factors(call: Call, req: contract.PasswordLogin) -> FactorLogin:
    factors.refuse_off(call.tenant.settings)
    passed, way = _passed(call, req)
    if passed.wanted is None:
        return entry.session(call, passed.account, way, req.fields_)
    wish = FactorWish(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    return entry.challenge(call, passed.wanted, way, wish)


def _passed(call: Call, req: contract.PasswordLogin) -> tuple[Passed, Way]:
    settings = call.tenant.settings
    identifier, hides = identifiers.stated(settings, req), settings.hide_unknown_accounts
    _note_origin(call, req.login_url)
    if req.password_delegation:
        raise e.DelegationFailed
    proof = Proof(req.security_answer, captcha.of_parameters(req))
    passed = service.verify(
        call, identifier, req.password, proof, hides_unknown=hides, wish=_wish(req), is_silent=req.is_silent
    )
    return passed, Way((service.PASSWORD,), identifier.kind, opens_lock=passed.opens_lock, is_silent=req.is_silent)
