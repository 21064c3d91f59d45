"""Reads about the signed-in account that several pages need."""

from __future__ import annotations

from app.contract.accounts.pages import profile_pages
from app.contract.page_models import NoParameters
from app.contract.second_factors.pages import account_factor_pages
from app.contract.sign_in import sign_in_pages
from app.contract.steps import AccountStep, AnyStep, LoginStep, RegisterStep
from app.hub.account_pages import read_account
from app.hub.web.services import api
from app.hub.web.visit import current_visit


def read_profile(**more: bool) -> profile_pages.ProfileResponse:
    """Return the profile of the signed-in account, `more` as in `ProfileRequest`. Raises SignInRequired."""
    return read_account(profile_pages.profile, profile_pages.ProfileRequest(**more))


def read_factors() -> account_factor_pages.FactorsView:
    """Return the second factors of the signed-in account.

    Raises:
        SignInRequired: as `read_account`.
        TwoFactorOff: the tenant has no second factors.
    """
    return read_account(account_factor_pages.read, NoParameters())


def account_in_interaction() -> str:
    """Return the label of the account that the current interaction signed in; empty if there is none."""
    interaction_id = current_visit().interaction_id
    if interaction_id is None:
        return ""
    return account_of(api()(sign_in_pages.resume, sign_in_pages.InteractionRequest(interaction_id=interaction_id)).step)


def account_of(step: AnyStep) -> str:
    """Return the label of the account that a step is about; empty if it is about none."""
    person = step.person if isinstance(step, AccountStep) else None
    if isinstance(step, LoginStep | RegisterStep) and step.reauthentication:
        person = step.reauthentication.person
    return person.label if person else ""
