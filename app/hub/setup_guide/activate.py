"""The last step of the guide: what will be active, the button that activates it, and the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from flask import Response

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import SetupGuide
from app.hub.forms.code import ButtonForm
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.page import Notice
from app.hub.setup_guide.guide import TRIED, SetupPage, go_on, session, step_view
from app.hub.web.services import api

_DOMAIN_LOST: Final = Notice(
    _l("Your domain is no longer verified"), _l("Put the TXT record back, then verify the domain again.")
)
_DOMAIN_USED: Final = Notice(
    _l("Another connection uses this domain"), _l("Ask the person who sent you this link to remove it first.")
)


@dataclass(frozen=True)
class SetupActivatePage(SetupPage):
    """Asks to activate the connection; afterwards says that it is active."""

    template = "pages/organizations/setup/activate.html"
    step = "activate"
    refusals = {errors.DomainNotVerified: _DOMAIN_LOST, errors.DomainOfOtherConnection: _DOMAIN_USED}

    @classmethod
    def samples(cls) -> Mapping[str, SetupActivatePage]:
        ready = cls(ButtonForm(), TRIED)
        without = TRIED.model_copy(update={"domain": "", "skips_domain": True, "joins": False})
        return {
            "ready": ready,
            "without a domain": cls(ButtonForm(), without),
            "domain in use": replace(ready, page_notice=_DOMAIN_USED),
            "domain lost": replace(ready, page_notice=_DOMAIN_LOST),
            "done": cls(ButtonForm(), TRIED.model_copy(update={"is_completed": True})),
            "token": replace(ready, form=ButtonForm().with_token_error()),
        }


@step_view("activate")
def show(guide: SetupGuide) -> Response:
    return SetupActivatePage(ButtonForm(formdata=None), guide).render()


@step_view("activate")
def submit(guide: SetupGuide) -> Response:
    form = ButtonForm()
    if not form.validate():
        return SetupActivatePage(form, guide).render(form.error_status)
    try:
        api()(setup_operations.activate, setup_operations.SetupSession(session=session()))
    except errors.SetupIncomplete:
        return go_on()
    except (errors.DomainNotVerified, errors.DomainOfOtherConnection) as refusal:
        return SetupActivatePage(form, guide).render_refusal(refusal)
    return go_on()
