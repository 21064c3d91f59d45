"""Choosing an account, where the browser is signed in to several or the application asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract.oauth.models import RelyingPartyView
from app.contract.sessions.models import AccountOption, SelectAccountStep
from app.contract.sessions.pages import account_choice_pages
from app.contract.sign_in.sign_in_pages import InteractionRequest
from app.hub import journey
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import initials, tone_of
from app.hub.web.services import api
from app.hub.web.visit import current_visit

PATH: Final = "/choose-account"
MAX_ACCOUNTS: Final = 5
"""Accounts of one browser."""


class AccountForm(HubForm):
    """One button per account, one to sign out of each, and one without a value for another account."""

    def to_request(self) -> account_choice_pages.ChooseAccountRequest:
        visit = current_visit()
        return account_choice_pages.ChooseAccountRequest(
            interaction_id=visit.interaction_id or "",
            account=visit.form.get("account", "")[:64],
            sign_out=visit.form.get("sign_out", "")[:64],
        )


@dataclass(frozen=True)
class AccountRow:
    """An account in the list."""

    id: str
    label: str
    name: str = ""

    @property
    def initials(self) -> str:
        """The initials of the name; empty for a phone number alone."""
        return "" if self.label.startswith("+") and not self.name else initials(self.name or self.label)

    @property
    def tone(self) -> str:
        """The colour of the initials, by the label: accounts of one name differ."""
        return tone_of(self.label)


@dataclass(frozen=True)
class ChooseAccountPage(Page):
    """Lists the accounts that the browser is signed in to."""

    template = "pages/sign_in/choose_account.html"

    form: AccountForm
    accounts: tuple[AccountRow, ...]
    relying_party: str = ""

    @property
    def can_add(self) -> bool:
        return len(self.accounts) < MAX_ACCOUNTS

    @property
    def notice(self) -> Notice | None:
        if self.can_add or self.form.errors:
            return super().notice
        return Notice(
            _l("You’re signed in to %(count)s accounts", count=MAX_ACCOUNTS),
            _l("Sign out of one to use another account."),
            "info",
        )

    @classmethod
    def samples(cls) -> Mapping[str, ChooseAccountPage]:
        ada = AccountRow("s1", "ada@example.com", "Ada Lovelace")
        work = AccountRow("s2", "ada@work.example.com", "Ada Lovelace")
        phone = AccountRow("s3", "+49 30 123456")
        long = AccountRow(
            "s4",
            "head.of.regional.procurement@northern-association-of-landscape-architects.example.com",
            "A. Long-Name",
        )
        return {
            "one": cls(AccountForm(), (ada,), "Acme Shop"),
            "several": cls(AccountForm(), (ada, work, phone), "Acme Shop"),
            "the most": cls(
                AccountForm(), (ada, work, phone, long, AccountRow("s5", "grace", "Grace Hopper")), "Acme Shop"
            ),
            "no application": cls(AccountForm(), (ada, work)),
            "token": cls(AccountForm().with_token_error(), (ada, work), "Acme Shop"),
        }


@pages.get(PATH)
def show_choose_account() -> Response:
    return _render(AccountForm())


@pages.post(PATH)
def submit_choose_account() -> Response:
    form = AccountForm()
    if not form.validate():
        return _render(form, form.error_status)
    journey.require_interaction()
    return journey.follow(api()(account_choice_pages.choose, form.to_request()))


def _render(form: AccountForm, status: int = 200) -> Response:
    interaction = journey.require_interaction()
    response = api()(account_choice_pages.accounts, InteractionRequest(interaction_id=interaction.id))
    if not isinstance(response.step, SelectAccountStep):
        return journey.follow(response)
    return _page(form, response.step, response.relying_party).render(status)


def _page(form: AccountForm, step: SelectAccountStep, application: RelyingPartyView | None) -> ChooseAccountPage:
    return ChooseAccountPage(
        form,
        tuple(map(_account, step.accounts)),
        relying_party=application.name if application else "",
    )


def _account(option: AccountOption) -> AccountRow:
    return AccountRow(option.id, option.label, option.name or "")
