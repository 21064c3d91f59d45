"""organization: id or name of the organization that the tokens are for (decision 0191).

Whether it exists, is active and has the account as a member is decided after sign-in, with one error for all three.
"""

from app.identity.directory.organizations import requested_organization
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest

_MAX_LENGTH = 400


def check(request: UncheckedRequest) -> None:
    text = request.values.get("organization")
    may_choose = requested_organization.PROMPT in request.accepted["prompt"]
    if (text is not None or may_choose) and request.client.settings.organization_usage == "deny":
        raise RefusedByRedirect("invalid_request", "This client does not use organizations.")
    if text is None:
        return
    if may_choose:
        raise RefusedByRedirect("invalid_request", "Send either organization or the prompt select_organization.")
    if len(text) > _MAX_LENGTH:
        raise RefusedByRedirect("invalid_request", "The organization is too long.")
    request.accepted["organization"] = text
