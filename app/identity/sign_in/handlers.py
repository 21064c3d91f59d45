"""The operations of sign-in."""

from app.contract import sign_in as contract
from app.contract.profile import Profile
from app.identity.accounts import service as accounts
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.sign_in import changed, identifiers, recovered, service, verified
from app.identity.sign_in.locks import Proof
from app.identity.verification.service import Wish
from app.kit.clock import iso
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the area's operations."""
    server.implements(contract.with_password)(with_password)
    verified.register(server)
    recovered.register(server)
    changed.register(server)


def _wish(req: contract.PasswordLogin) -> Wish:
    options = (req.options or "").lower()
    return Wish(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        sends_sms="preventverificationsms" not in options,
    )


def with_password(call: Call, req: contract.PasswordLogin) -> contract.Login:
    proof = Proof(req.security_answer, captcha.of_parameters(req))
    settings = call.tenant.settings
    identifier, hides = identifiers.stated(settings, req), settings.hide_unknown_accounts
    account = service.verify(call, identifier, req.password, proof, hides_unknown=hides, wish=_wish(req))
    issued = service.issue(call, account)
    profile = accounts.signed_in_profile(call, account)
    return contract.Login(
        profile=Profile.of(accounts.project(profile, req.fields_)),
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
    )
