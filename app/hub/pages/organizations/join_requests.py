"""The requests to join an organization, for its managers: approve and decline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from wtforms import HiddenField

from app.contract import errors
from app.contract.organizations.pages import join_request_pages
from app.hub.account_pages import ReauthenticationRequired
from app.hub.client.identity_client import SignInRequired
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.managed_organization import (
    LIST,
    page_number,
    read,
    requested_organization,
    url_of,
)
from app.hub.pages.organizations.presentation import TABS, Tab, members, tabs_of
from app.hub.rendering import formatting
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = f"{LIST}/requests"
_APPROVE, _DECLINE = "approve-", "decline-"
_CLOSED: Final = Notice(
    _l("This request can’t be approved"),
    _l("It was already approved or declined, or the person’s account or email changed."),
    "note",
)
_NOTICES: Final[dict[type[ApiError], Notice]] = {
    errors.JoinRequestClosed: _CLOSED,
    errors.NoSeatLeft: Notice(_l("No seats left"), _l("Remove a member or revoke an invitation first.")),
    errors.WrongDefaultMemberRole: Notice(
        _l("There’s no role for new members"), _l("Ask your administrator to set a default role.")
    ),
}


class DecisionForm(ReauthenticationForm):
    """Two buttons per request: their names are the decision and the id of the request. An approval may need the password."""

    organization = HiddenField()

    @property
    def decision(self) -> tuple[str, bool] | None:
        """The id of the request, and whether it is approved; None if no button was pressed."""
        for name in current_visit().form:
            if name.startswith((_APPROVE, _DECLINE)):
                return name.partition("-")[2][:64], name.startswith(_APPROVE)
        return None


@dataclass(frozen=True)
class JoinRequestRow:
    """A row of the list."""

    id: str
    name: str
    label: str
    domain: str
    since: str

    @property
    def title(self) -> str:
        """The name, or the label of an account without one."""
        return self.name or self.label

    @property
    def initials(self) -> str:
        return initials(self.title)

    @classmethod
    def of(cls, view: join_request_pages.RequestView) -> JoinRequestRow:
        return cls(view.id, view.name, view.label, view.domain, formatting.short_day(view.since))

    @classmethod
    def samples(cls) -> tuple[JoinRequestRow, ...]:
        day = formatting.short_day("2026-11-12T10:00:00+00:00")
        long = "countess.of.lovelace@analytical-engines.example.org"
        return cls("a", "Grace Hopper", "grace@globex.example", "globex.example", day), cls(
            "b", "", long, "analytical-engines.example.org", day
        )


@dataclass(frozen=True)
class JoinRequestsPage(Page):
    """Lists the open requests."""

    template = "pages/organizations/join_requests.html"
    own_rules = ("titled",)
    query = {"id": 64, "page": 6, "done": 8}
    refusals = {**CHANGE_REFUSALS, **_NOTICES}

    form: DecisionForm
    organization: str
    """Its id."""
    name: str
    people: Any
    requests: tuple[JoinRequestRow, ...]
    number: int = 1
    """Of the page."""
    has_more: bool = False
    tabs: tuple[Tab, ...] = TABS

    def address(self, number: int) -> str:
        """Return the address of another page of the list."""
        return url_of(PATH, self.organization, page=number)

    @classmethod
    def samples(cls) -> Mapping[str, JoinRequestsPage]:
        form = DecisionForm(data={"organization": "org_9"})
        some = cls(form, "org_9", "Globex Gardens", members(24), JoinRequestRow.samples())
        return {
            "some": some,
            "none": replace(some, requests=()),
            "second page": replace(some, number=2, has_more=True),
            "with the password": replace(
                some,
                form=DecisionForm(
                    data={"organization": "org_9", "account": "ada@example.com", "reauthentication": NEEDED}
                ),
            ),
            "token": replace(some, form=DecisionForm(data={"organization": "org_9"}).with_token_error()),
            **{f"after {result}": replace(some, page_notice=notice) for result, notice in _RESULTS.items()},
            **{kind.__name__: replace(some, page_notice=notice) for kind, notice in _NOTICES.items()},
        }


_RESULTS: Final = {
    "approved": Notice(_l("Request approved"), _l("They’re now a member. We’ve emailed them."), "ok"),
    "declined": Notice(_l("Request declined"), _l("We’ve emailed them. They can ask again in 30 days."), "ok"),
}


@account_page(PATH, parameter="id", field="organization")
def show_join_requests() -> Response:
    result = _RESULTS.get(current_visit().query.get("done", ""))
    return replace(_page(None, requested_organization(), page_number()), page_notice=result).render()


@pages.post(PATH)
def submit_join_request() -> Response:
    form = DecisionForm()
    organization, decision = (form.organization.data or "")[:64], form.decision
    if not form.validate() or decision is None:
        return _page(form, organization).render(form.error_status)
    join_request, is_approved = decision
    operation = join_request_pages.approve if is_approved else join_request_pages.decline
    try:
        api(form.current_password)(
            operation, join_request_pages.JoinRequestDecision(organization=organization, request=join_request)
        )
    except (errors.JoinRequestClosed, errors.UnknownJoinRequest, errors.UnknownMember):
        if not is_approved:  # declined already, by a double submit or another manager
            return redirect_to(url_of(PATH, organization))
        return replace(_page(form, organization), page_notice=_CLOSED).render(409)
    except SignInRequired:  # or the password does not suffice
        if current_visit().session:
            raise ReauthenticationRequired from None
        raise
    except errors.UnknownOrganization:
        return redirect_to(LIST)
    except ApiError as refusal:
        return _page(form, organization).render_refusal(refusal)
    done = "approved" if is_approved else "declined"
    return redirect_to(url_of(PATH, organization, done=done))


def _page(form: DecisionForm | None, organization: str, number: int = 1) -> JoinRequestsPage:
    request = join_request_pages.RequestsRequest(organization=organization or "-", page=number)
    view = read(join_request_pages.read, request)
    own = view.organization
    form = form or DecisionForm(formdata=None, data={**reauthentication_data(view), "organization": organization})
    return JoinRequestsPage(
        form,
        own.id,
        own.name,
        members(own.people),
        tuple(map(JoinRequestRow.of, view.requests)),
        number,
        view.has_more,
        tabs_of(own),
    )
