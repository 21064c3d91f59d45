"""Reads a provider's configuration from what an administrator pasted into the set-up guide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from app.contract import errors
from app.contract.federation.connections import is_provider_url
from app.contract.organizations.setup_operations import SaveSetupEntries
from app.identity.directory.organizations.connections import organization_connections, shared_issuers
from app.identity.directory.organizations.setup import setup_draft
from app.identity.directory.organizations.setup.setup_draft import SECRET, SetupDraft
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.directory.organizations.setup.setup_products import OPENID, ProductProtocol
from app.identity.platform.context import Context
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.limits.rate_limits import Rate

_READS: Final = Rate(60, 3600)
"""Configurations that one link may read: each is a request to an address that its holder names."""
_DISCOVERY: Final = "/.well-known/openid-configuration"
_METADATA_TYPES: Final = "application/samlmetadata+xml, application/xml"


class _Refused(Exception):
    """An entry that cannot be used, and why: a reason of `SetupEntryRefused`."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name, self.reason = name, reason


def save(context: Context, link: SetupLinkRecord, req: SaveSetupEntries) -> None:
    """Save what was typed, and the connection's content where the provider's configuration can be read.

    Raises SetupIncomplete without a product, SetupEntryRefused for an entry that cannot be used (what was typed stays), ClosedSetupLink,
    TooManyRequests.
    """
    before = setup_draft.of_link(context, link)
    chosen = before.chosen
    if chosen is None:
        raise errors.SetupIncomplete
    _, protocol = chosen
    typed = {item.name: str(getattr(req, item.name)).strip() for item in protocol.fields if item.name != SECRET}
    is_for_same = typed.get("issuer") == before.typed.get("issuer")  # another issuer would receive the present secret
    secret = req.client_secret.strip() or (before.secret if is_for_same else "")
    content: dict[str, Any] = {}
    refused: _Refused | None = None
    try:
        content = _content(context, link, before, protocol, {**typed, SECRET: secret})
    except _Refused as problem:
        refused = problem
    setup_draft.change(context, link, lambda draft: _changed(draft, before.key, typed, secret, content))
    if refused is not None:
        raise errors.SetupEntryRefused(problems=[(refused.name, refused.reason)], commit_on_raise=True)


def _changed(
    draft: SetupDraft, key: str, typed: Mapping[str, str], secret: str, content: Mapping[str, Any]
) -> SetupDraft:
    """Return the draft with these entries; another tab may have chosen another product meanwhile."""
    entries = {**draft.entries, key: typed}
    others = {name: text for name, text in draft.secrets.items() if name != key}
    secrets = {**others, **({key: secret} if secret else {})}
    if key != draft.key:
        return replace(draft, entries=entries, secrets=secrets)
    is_same = bool(content) and content == draft.content and secret == draft.secret
    version = draft.version if is_same else draft.version + 1
    trial = draft.trial if is_same else None
    return replace(draft, entries=entries, secrets=secrets, content=content, version=version, trial=trial)


def _content(
    context: Context, link: SetupLinkRecord, draft: SetupDraft, protocol: ProductProtocol, typed: Mapping[str, str]
) -> dict[str, Any]:
    """Return the content of the connection. Raises _Refused, TooManyRequests."""
    if draft.protocol == OPENID:
        return _openid(context, link, protocol, typed)
    return _saml(context, link, protocol, typed)


def _openid(
    context: Context, link: SetupLinkRecord, protocol: ProductProtocol, typed: Mapping[str, str]
) -> dict[str, Any]:
    values = {**protocol.settings}
    for item in protocol.fields:
        if not typed[item.name]:
            raise _Refused(item.name, "missing")
        if item.name != SECRET:
            whole = item.whole_value(typed[item.name])
            if whole is None:
                raise _Refused(item.name, "malformed")
            values[item.name] = whole
    issuer = values["issuer"].removesuffix(_DISCOVERY)
    if not is_provider_url(issuer):
        raise _Refused("issuer", "malformed")
    if shared_issuers.is_shared(issuer):
        raise _Refused("issuer", "shared")
    context.count_against("setup.configuration", _READS, link.link_id)
    spellings = (issuer, issuer.rstrip("/") if issuer.endswith("/") else f"{issuer}/")  # people add or drop a slash
    for spelled in spellings:
        try:
            return organization_connections.complete_openid(
                context, {"issuer": spelled, "client_id": values["client_id"]}
            )
        except errors.BadField:
            continue
    raise _Refused("issuer", "unreadable")


def _saml(
    context: Context, link: SetupLinkRecord, protocol: ProductProtocol, typed: Mapping[str, str]
) -> dict[str, Any]:
    """Return the content by pasted metadata, else by that at an address. Raises _Refused."""
    from app.identity.directory.organizations.connections import provider_certificates, provider_metadata  # noqa: PLC0415 - few tenants have any
    from app.identity.platform import saml_certificates  # noqa: PLC0415 - as above

    name = "metadata" if typed.get("metadata") or "metadata_url" not in typed else "metadata_url"
    if not typed[name]:
        raise _Refused(name, "missing")
    address = next((item.whole_value(typed[name]) for item in protocol.fields if item.name == "metadata_url"), None)
    try:
        document = typed["metadata"].encode() if name == "metadata" else _fetched(context, link, address or "")
        read = provider_metadata.read(document, context.now)
    except provider_metadata.MetadataUnusable:
        raise _Refused(name, "unreadable") from None
    usable = [pem for pem in read.certificates if not saml_certificates.problem_of(pem)]
    if not usable:
        raise _Refused(name, "unreadable")
    present = [pem for pem in usable if context.now < saml_certificates.validity(pem)[1]]
    if not present:
        raise _Refused(name, "expired")
    certificates = provider_certificates.renewed((), present, context.now)
    return {
        **read.content,
        **provider_certificates.stored_as(certificates),
        "idp_metadata_url": address if name == "metadata_url" else "",
        "is_idp_initiated": False,
        "stated": [],  # so that the metadata goes on to decide
    }


def _fetched(context: Context, link: SetupLinkRecord, address: str) -> bytes:
    """Return the document at an address. Raises _Refused, TooManyRequests."""
    from app.identity.platform.saml.xml_documents import METADATA_LIMITS  # noqa: PLC0415 - few tenants have any

    if not is_provider_url(address):
        raise _Refused("metadata_url", "malformed")
    context.count_against("setup.configuration", _READS, link.link_id)
    context.work.release_connection()
    resolver, limit = context.services.provider_metadata.resolver, METADATA_LIMITS.size_bytes
    try:
        return outbound_http.get_content(resolver, address, _METADATA_TYPES, max_bytes=limit)
    except ProviderUnavailable:
        raise _Refused("metadata_url", "unreadable") from None
