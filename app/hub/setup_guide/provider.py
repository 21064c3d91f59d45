"""The second step of the guide: the product of the identity provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from flask import Response

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import ChooseSetupProduct, SetupGuide
from app.hub.forms.code import ButtonForm
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.page import Notice
from app.hub.setup_guide.guide import CHOSEN, WITH_DOMAINS, SetupPage, address_of, session, step_view
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit

_MAX_NAME: Final = 40


@dataclass(frozen=True)
class SetupProviderPage(SetupPage):
    """Lets the administrator choose their product; each is a button."""

    template = "pages/organizations/setup/provider.html"
    step = "provider"
    refusals = {errors.BadField: Notice(_l("Choose a provider from the list"))}

    @classmethod
    def samples(cls) -> Mapping[str, SetupProviderPage]:
        fresh = cls(ButtonForm(), WITH_DOMAINS.model_copy(update={"domain": "globex.example"}))
        return {
            "fresh": fresh,
            "chosen": cls(ButtonForm(), CHOSEN),
            "token": replace(fresh, form=ButtonForm().with_token_error()),
        }


@step_view("provider")
def show(guide: SetupGuide) -> Response:
    return SetupProviderPage(ButtonForm(formdata=None), guide).render()


@step_view("provider")
def submit(guide: SetupGuide) -> Response:
    form, posted = ButtonForm(), current_visit().form
    if not form.validate():
        return SetupProviderPage(form, guide).render(form.error_status)
    protocol = posted.get("protocol", "")
    chosen = {"protocol": protocol} if protocol in ("openid", "saml") else {}
    name = posted.get("product", "")[:_MAX_NAME]
    try:
        api()(
            setup_operations.choose_product,
            ChooseSetupProduct.model_validate({"session": session(), "product": name, **chosen}),
        )
    except errors.BadField as refusal:
        return SetupProviderPage(form, guide).render_refusal(refusal)
    return redirect_to(address_of("connection"))
