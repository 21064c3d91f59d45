"""The operations of people who are signed in, and of the tenant's servers. What a consent token opens stands with sign-in."""

from __future__ import annotations

from app.contract import consents as contract
from app.contract import errors as e
from app.contract.groups import Uid
from app.contract.profile import Profile
from app.identity.accounts import consents
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.consent_forms import service
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the area's operations."""
    server.implements(contract.give)(give)
    server.implements(contract.change)(change)
    server.implements(contract.verify)(verify)
    server.implements(contract.logs)(logs)
    server.implements(contract.managed_logs)(managed_logs)


def give(call: Call, req: contract.OwnConsentsGiven) -> Profile:
    account = accounts.own(call)
    service.refuse_off(call)
    answers = service.read(call.tenant.settings, req)
    return Profile.of(accounts.profile_of(service.give(call, account, answers, is_silent=req.is_silent)))


def change(call: Call, req: contract.ConsentsChanged) -> contract.ConsentProfile:
    account = accounts.own(call)
    service.refuse_off(call)
    after = service.change(call, account, req.consents, is_silent=req.is_silent)
    return profile_of(after) or contract.ConsentProfile(accepted_consent_versions=[], consents=[])


def verify(call: Call, req: contract.ConsentAsked) -> contract.ConsentValidity:
    account = accounts.own(call)
    service.refuse_off(call)
    is_valid = service.is_valid(call, account, req.event, is_custom=req.is_custom)
    return contract.ConsentValidity(consent_profile=profile_of(account), is_valid=is_valid)


def logs(call: Call, req: contract.OwnLogsRead) -> contract.ConsentLogs:
    return _logs(call, accounts.own(call))


def managed_logs(call: Call, req: Uid) -> contract.ConsentLogs:
    return _logs(call, accounts.known(call, req.uid))


def profile_of(account: Account) -> contract.ConsentProfile | None:
    """Return what the account agreed to."""
    kept = consents.profile(consents.held(account))
    return contract.ConsentProfile.model_validate(kept) if kept else None


def _logs(call: Call, account: Account) -> contract.ConsentLogs:
    service.refuse_off(call)
    entries = service.history(call, account)
    if not entries:
        raise e.NoConsentLogs
    return contract.ConsentLogs(
        uid=account.uid, consent_logs=[contract.ConsentLog.model_validate(one) for one in entries]
    )
