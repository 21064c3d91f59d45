"""Rules of consent forms: required forms, valid answers, and the stored and logged consents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from app.contract import errors
from app.contract.consents.consent_operations import ConsentAnswer, ConsentAnswers, ConsentEvent
from app.contract.consents.forms import FIRST_LOGIN, LOGIN, REGISTER, ConsentForm
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.accounts import account_consents, account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import consent_log
from app.identity.platform import events
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso
from app.kit.limits.rate_limits import Rate

CHANGES = Rate(60, 3600)
"""Limits changes per account, because each change adds a permanent log entry."""
_DEFAULT, _EDITOR, _MIGRATION = "Default", "ConsentEditor", "FormMigration"
_SUBSCRIBED: Final = {(False, True): "Subscribe", (True, True): "Subscribe", (True, False): "Unsubscribe"}
Answers = tuple[tuple[ConsentForm, ...], Mapping[str, bool]]
"""The answered forms, and the choice for each of their options by id."""


def require_enabled(context: Context) -> None:
    """Raise ConsentsOff if the tenant has no consent form."""
    if not context.tenant.settings.consent_forms:
        raise errors.ConsentsOff


def due_forms(context: Context, account: Account, began_at: datetime) -> tuple[ConsentForm, ...]:
    """Return the forms to answer before a sign-in that started at `began_at` gets a session.

    These are: the unanswered registration form; the first-login form until it is answered once; afterwards the current
    version of the login form.
    """
    forms = {form.event: form for form in context.tenant.settings.consent_forms if form.mandatory}
    if not forms:
        return ()
    stored, due = account_consents.of_account(account), []
    if stored.get("owes") and REGISTER in forms:
        due.append(forms[REGISTER])
    first = account_consents.answer_to(stored, FIRST_LOGIN)
    if first is None and FIRST_LOGIN in forms:
        due.append(forms[FIRST_LOGIN])
    elif LOGIN in forms and not _is_answered(stored, forms[LOGIN]):
        is_within = first is not None and first["At"] >= (iso(began_at) or "")
        due += [] if is_within else [forms[LOGIN]]
    return tuple(due)


def parse(settings: TenantSettings, consent_answers: ConsentAnswers) -> Answers:
    """Parse answers; an option that is not mentioned counts as declined.

    Raises:
        NoConsentForm: there is no form for an event.
        ConsentRefused: no form is named, an option is duplicate or belongs to none of them, or a mandatory option is not
            accepted.
    """
    forms = tuple(_find_form(settings, event) for event in consent_answers.events)
    if not forms or len({form.event for form in forms}) < len(forms):
        raise errors.ConsentRefused("Each answered form stands once in Events.")
    chosen = _chosen(consent_answers.data)
    offered = {option.id for form in forms for option in form.options}
    if unknown := chosen.keys() - offered:
        raise errors.ConsentRefused(f"{min(unknown)} is no option of the forms in Events.")
    for option in (option for form in forms for option in form.options):
        if option.mandatory and not chosen.get(option.id):
            raise errors.ConsentRefused(f"{option.id} must be accepted.")
    return forms, {option: chosen.get(option, False) for option in offered}


def submit(context: Context, account: Account, answers: Answers) -> Account:
    """Store answers and return the changed account; unchanged answers add no log entry. Raises TooManyRequests."""
    context.count_against("consents", CHANGES, account.uid)
    forms, choices = answers
    fresh = _locked(context, account)
    stored = account_consents.of_account(fresh)
    is_newer = any(
        (item := account_consents.answer_to(stored, form.event)) and item["Version"] < form.version for form in forms
    )
    after = account_consents.with_answers(stored, [_version(form) for form in forms], choices, context.now)
    if any(form.event == REGISTER for form in forms):
        after.pop("owes", None)
    if all(_is_answered(stored, form) for form in forms) and account_consents.accepted_options(
        after
    ) == account_consents.accepted_options(stored):
        return fresh
    return _write(context, fresh, after, choices, _MIGRATION if is_newer else _DEFAULT)


def change(context: Context, account: Account, answers: Sequence[ConsentAnswer]) -> Account:
    """Change options of forms that the account has answered, and return the changed account.

    Raises:
        NoConsentForm: an option belongs to no form.
        ConsentRefused: an option is duplicate, mandatory, or on no form that the account has answered.
        TooManyRequests: too many changes.
    """
    context.count_against("consents", CHANGES, account.uid)
    chosen, forms = _chosen(answers), context.tenant.settings.consent_forms
    fresh = _locked(context, account)
    stored = account_consents.of_account(fresh)
    offered = {option.id for form in forms for option in form.options}
    changeable = [option for form in forms if account_consents.answer_to(stored, form.event) for option in form.options]
    if chosen.keys() - offered:
        raise errors.NoConsentForm
    if unknown := chosen.keys() - {option.id for option in changeable}:
        raise errors.ConsentRefused(f"{min(unknown)} is on no form that the account answered.")
    for option in changeable:
        if option.mandatory and chosen.get(option.id) is False:
            raise errors.ConsentRefused(f"{option.id} cannot be taken back.")
    after = account_consents.with_answers(stored, (), chosen, context.now)
    if account_consents.accepted_options(after) == account_consents.accepted_options(stored):
        return fresh
    return _write(context, fresh, after, chosen, _EDITOR)


def is_valid(context: Context, account: Account, event: str, *, is_custom: bool) -> bool:
    """Return whether the current version of a form is answered. Raises NoConsentForm, RequestInvalid."""
    form = form_of(context.tenant.settings, event)
    if form is None:
        raise errors.NoConsentForm
    if form.is_custom != is_custom:
        raise errors.RequestInvalid("IsCustom is not what the event is.")
    return _is_answered(account_consents.of_account(account), form)


def history(context: Context, account: Account) -> list[dict[str, Any]]:
    """Return the account's log entries, newest first."""
    first = account_consents.of_account(account).get("first")
    return [*consent_log.of_account(context, account.uid), *([first] if first else [])]


def parse_optional(context: Context, consent_answers: ConsentAnswers | None) -> Answers | None:
    """Parse the answers of a registration request; None without answers or forms.

    Raises NoConsentForm, ConsentRefused.
    """
    settings = context.tenant.settings
    return parse(settings, consent_answers) if consent_answers is not None and settings.consent_forms else None


def at_registration(context: Context, answers: Answers | None, *, is_own: bool = True) -> dict[str, Any]:
    """Return the `private` members for the consents of a new account.

    A self-registered account (`is_own`) owes a mandatory registration form that was not answered.
    """
    settings, stored = context.tenant.settings, {}
    if answers:
        forms, choices = answers
        stored = account_consents.with_answers({}, [_version(form) for form in forms], choices, context.now)
        stored["first"] = _log_entry(context, stored, _DEFAULT, _differences({}, choices))
    form = form_of(settings, REGISTER)
    if is_own and form and form.mandatory and not account_consents.answer_to(stored, REGISTER):
        stored["owes"] = True
    return {account_consents.KEY: stored} if stored else {}


def form_of(settings: TenantSettings, event: str) -> ConsentForm | None:
    """Return the form for an event."""
    return next((form for form in settings.consent_forms if form.event == event), None)


def _find_form(settings: TenantSettings, requested: ConsentEvent) -> ConsentForm:
    form = form_of(settings, requested.event)
    if form is None or form.is_custom != requested.is_custom:
        raise errors.NoConsentForm
    return form


def _chosen(consent_answers: Sequence[ConsentAnswer]) -> dict[str, bool]:
    chosen = {item.consent_option_id: item.is_accepted for item in consent_answers}
    if len(chosen) < len(consent_answers):
        raise errors.ConsentRefused("Each option stands once.")
    return chosen


def _is_answered(stored: account_consents.StoredConsents, form: ConsentForm) -> bool:
    answered = account_consents.answer_to(stored, form.event)
    return answered is not None and answered["Version"] == form.version


def _locked(context: Context, account: Account) -> Account:
    fresh = account_store.lock(context, account.uid)
    if fresh is None:
        raise errors.NotAuthenticated
    return fresh


def _version(form: ConsentForm) -> dict[str, Any]:
    return {"Event": form.event, "Version": form.version, "IsCustom": form.is_custom}


def _write(
    context: Context,
    fresh: Account,
    after: dict[str, Any],
    choices: Mapping[str, bool],
    kind: str,
) -> Account:
    stored = account_consents.of_account(fresh)
    consent_log.add(context, fresh.uid, _log_entry(context, after, kind, _differences(stored, choices)))
    private = {**fresh.private, account_consents.KEY: after}
    written = account_store.change(context, fresh.uid, {"private": private}) or fresh
    events.emit(context, "ConsentProfileUpdate", written)
    return written


def _differences(stored: account_consents.StoredConsents, choices: Mapping[str, bool]) -> list[dict[str, str]]:
    """Return per option whether it was subscribed, unsubscribed or not opted."""
    before = account_consents.accepted_options(stored)
    return [
        {"ConsentId": option, "Event": _SUBSCRIBED.get((option in before, is_accepted), "NotOpted")}
        for option, is_accepted in sorted(choices.items())
    ]


def _log_entry(
    context: Context, after: account_consents.StoredConsents, kind: str, answers: list[dict[str, str]]
) -> dict[str, Any]:
    """Return a log entry in the interface's form."""
    return {
        "Id": randomness.uid(),
        "UpdateType": kind,
        "CurrentConsentFormsVersions": account_consents.versions(after),
        "LoggedOnDate": iso(context.now),
        "UserAgent": context.agent,
        "IP": context.ip_address,
        "Host": (context.visit.host if context.visit else context.raw.host)[:300],
        "ConsentLogs": answers,
    }
