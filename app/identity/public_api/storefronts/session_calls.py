"""The signed call to the tenant's server that begins a session at a PerfectMind site (docs/workflow-calls.md: the signature)."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, ValidationError
from pydantic_core import to_json

from app.contract.storefronts.storefront_operations import SiteSession
from app.identity.authentication.workflows import call_signatures
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import OBJECT, ProviderUnavailable, request_json
from app.kit import randomness
from app.kit.clock import iso

SECRET_NAME: Final = "perfectmind"
"""The name of the secret that signs the call."""
_TYPE: Final = "perfectmind.session"


class _Answer(SiteSession):
    """The answer, within the bounds of what is passed on."""

    session_id: Annotated[str, Field(min_length=1, max_length=500)]
    url: Annotated[str, Field(alias="URL", min_length=1, max_length=2_000)]
    is_new_link: bool = False


def begin(context: Context, address: str, site: str, account: Account, email: str) -> SiteSession:
    """Return the session that the tenant's server began. Raises ProviderUnavailable.

    Args:
        address: of the server.
        email: the account's verified address.
    """
    call_id, profile = randomness.uid(), account.profile
    body = to_json(
        {
            "Id": call_id,
            "Type": _TYPE,
            "Time": iso(context.now),
            "Site": site,
            "Account": {
                "Uid": account.uid,
                "Email": email,
                "FirstName": profile.get("FirstName"),
                "LastName": profile.get("LastName"),
            },
        }
    )
    headers = call_signatures.headers(context, call_id, body, SECRET_NAME)
    context.work.release_connection()
    answer = request_json(
        context.services.provider_metadata.resolver, "POST", address, headers, body, is_untrusted=True, expected=OBJECT
    )
    try:
        found = _Answer.model_validate(answer)
    except ValidationError as problem:
        names = sorted({str(item["loc"][0]) for item in problem.errors() if item["loc"]})
        raise ProviderUnavailable(f"the answer has no usable {', '.join(names)}") from None
    return SiteSession(**found.model_dump())
