"""The operation that tries the mapping of a provider on a sample answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.contract import errors
from app.contract.federation import mapping_trial_operations, oauth_providers
from app.contract.federation.connection_completion import resolved
from app.contract.federation.connections import STANDARD_CLAIMS
from app.contract.federation.mapping_trial_operations import MappingTrial, MissingField, TryMapping
from app.identity.authentication.federation import jwt_providers, offered_connections
from app.identity.authentication.passwordless import federated_account
from app.identity.directory.accounts import accounts
from app.identity.directory.identity_provider import JWT_PREFIX, ProviderIdentity, find_claim, identity_from_claims
from app.identity.platform.context import Context
from app.identity.platform.outbound.findings import kind_of_value, shown
from app.identity.platform.outbound.outbound_http import ProviderUnavailable

_FIELDS = {claim: field for field, claim in oauth_providers.FIELDS.items()}
"""The field of the profile that each key of a mapping fills."""
_SAMPLE = "sample"


@dataclass(frozen=True)
class _Draft:
    """The claim of each key, and the keys that the mapping itself names."""

    names: Mapping[str, str]
    mapped_keys: frozenset[str]

    @classmethod
    def of(cls, mapped_keys: Mapping[str, str]) -> _Draft:
        return cls({**STANDARD_CLAIMS, **mapped_keys}, frozenset(mapped_keys))


@mapping_trial_operations.try_mapping.implements
def try_mapping(context: Context, req: TryMapping) -> MappingTrial:
    draft = _draft(context, req)
    try:
        identity = identity_from_claims(_SAMPLE, draft.names, req.claims)
    except ProviderUnavailable:
        identity = None
    mapped = identity or _without_subject(draft, req.claims)
    return MappingTrial(
        is_accepted=identity is not None,
        ID=identity.subject if identity is not None else None,
        email=mapped.email,
        email_verified=mapped.email_verified,
        profile=mapped.profile,
        missing=_missing(draft, req.claims, mapped, has_id=identity is not None),
        required_at_sign_up=federated_account.unfilled_fields(context, mapped),
        unused_claims=_unused(draft, req.claims),
    )


def _draft(context: Context, req: TryMapping) -> _Draft:
    """Return the mapping to try. Raises BadField for none, for several, and for one that cannot be stored."""
    given = [value for value in (req.connection, req.data_map, req.mapping) if value is not None]
    if len(given) != 1:
        raise errors.BadField("Connection: one of Connection, DataMap and Mapping.")
    if req.connection is not None:
        return _draft_of(context, req.connection.strip().lower())
    if req.data_map is not None:
        return _Draft.of(oauth_providers.claims_of(req.data_map))
    fields = {field: claim for claim, field in (req.mapping or {}).items()}
    if unknown := next((field for field in fields if field not in jwt_providers.FILLABLE), None):
        raise errors.BadField(f"Mapping: a field that a token fills, such as Email or ID; found {unknown[:60]}.")
    return _Draft.of({jwt_providers.FILLABLE[field]: claim for field, claim in fields.items()})


def _draft_of(context: Context, name: str) -> _Draft:
    if offered_connections.is_of_jwt_provider(name):
        try:
            sender = jwt_providers.find(context, name.removeprefix(JWT_PREFIX))
        except errors.ConnectionNotConfigured:
            raise errors.BadField("Connection: an active JWT provider.") from None
        return _Draft.of(sender.claims)
    configured = context.tenant.settings.connections.get(name)
    if configured is None:
        raise errors.BadField("Connection: the name of a connection.")
    settings = resolved(name, configured)
    return _Draft(settings.names, frozenset(settings.claims))


def _without_subject(draft: _Draft, claims: Mapping[str, Any]) -> ProviderIdentity:
    """Return what the rest of an answer without a usable subject fills."""
    return identity_from_claims(_SAMPLE, {**draft.names, "subject": _SAMPLE}, {**claims, _SAMPLE: _SAMPLE})


def _missing(draft: _Draft, claims: Mapping[str, Any], mapped: ProviderIdentity, *, has_id: bool) -> list[MissingField]:
    def is_filled(key: str) -> bool:
        if key == "subject":
            return has_id
        if key == "email":
            return accounts.is_email(mapped.email or "")
        return (key == "email_verified" and mapped.email_verified) or _FIELDS[key] in mapped.profile

    wanted = [
        key for key in _FIELDS if key in draft.names and (key in draft.mapped_keys or key in ("subject", "email"))
    ]
    return [
        MissingField(
            field=_FIELDS[key],
            claim=draft.names[key],
            found=kind_of_value(find_claim(claims, draft.names[key])),
        )
        for key in wanted
        if not is_filled(key)
    ]


def _unused(draft: _Draft, claims: Mapping[str, Any]) -> list[str]:
    """Return the claims that no name reads, as a whole or in part."""
    read = {*draft.names.values(), *(name.partition(".")[0] for name in draft.names.values())}
    return [shown(name) for name in claims if name not in read]
