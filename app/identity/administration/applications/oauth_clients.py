"""OAuth clients as a resource: their store, which is the table of applications, and their rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from datetime import timedelta
from typing import Any, Final, get_args

from pydantic import ValidationError

from app.contract import errors
from app.contract.applications import oauth_client_operations
from app.contract.applications.client_authentication import SECRET_JWT
from app.contract.applications.client_protocol import ClientProtocol
from app.contract.applications.file import ApplicationFile
from app.contract.applications.logout_settings import LogoutReason
from app.contract.applications.oauth_client_operations import StoredApplication
from app.contract.applications.security_profile import FAPI, FAPI_DEFAULTS
from app.contract.applications.settings import ApplicationSettings
from app.contract.applications.token_signing import DEFAULT_ALGORITHM
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.workflows import token_hook_rules, workflow_choices
from app.identity.directory.tenants import registered_applications, tenant_writes, themed_tenant
from app.identity.directory.tenants.keys import client_secrets
from app.identity.directory.tenants.tenant_writes import ApplicationRow
from app.identity.platform.context import Context
from app.identity.platform.powers import Power
from app.identity.platform.resource_storage.items import Item, Store, StoreAccess
from app.identity.platform.resource_storage.rules import Rules
from app.identity.protocols.oauth import client_powers, sector_identifiers
from app.kit import randomness
from app.kit.resources.resource import Resource
from app.kit.resources.resource_values import ItemInput

_SECRET: Final = "client_secret"
_BESIDE_SETTINGS: Final = frozenset({"client_id", "registered_by"})
_STORED: Final = "kept"
"""The value that represents a stored secret, of which only the digest is known."""
_OVERLAP: Final = timedelta(hours=oauth_client_operations.OVERLAP_HOURS)
_PROTOCOLS: Final = {"OpenID": ClientProtocol.OPENID, "OAuth 2.0": ClientProtocol.OAUTH}
_NAMED: Final = frozenset({*FAPI_DEFAULTS, "token_endpoint_auth_method"})
"""Settings that mean something else where they are not stored."""
_REASONS: Final[tuple[str, ...]] = get_args(LogoutReason)
_TYPES: Final = {"Web": "web", "Native": "native", "SPA": "spa", "M2M": "m2m"}


class ApplicationStore(Store):
    """The tenant's applications as items of the resource. A secret is written as a digest, and read as MASKED."""

    def items(self, access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the applications by name."""
        return [item_of(row) for row in tenant_writes.applications_of(access.work)]

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:  # noqa: ARG002 - Store
        """Return an application by its name, in any letter case."""
        row = _row(access, item_id[0])
        return item_of(row) if row is not None else None

    def page(
        self,
        access: StoreAccess,
        resource: Resource,  # noqa: ARG002 - Store
        offset: int,
        limit: int,
    ) -> list[Item]:
        """Return a page of the applications by name."""
        return [item_of(row) for row in tenant_writes.applications_of(access.work, offset=offset, limit=limit)]

    def count(self, access: StoreAccess, resource: Resource) -> int:  # noqa: ARG002 - Store
        """Return the number of applications."""
        return tenant_writes.count_applications(access.work)

    def find_by_unique_key(self, access: StoreAccess, resource: Resource, item: Item) -> Item | None:
        """Return the application with the item's name, which is its unique value."""
        return self.item(access, resource, item.id)

    def add(self, access: StoreAccess, resource: Resource, item: Item) -> None:  # noqa: ARG002 - Store
        """Add an application. Raises IntegrityError if its name is taken."""
        settings, client_id = _stored_settings(item), item.content["client_id"]
        secret = client_secrets.columns(
            access.encryption, access.work.tenant_id, client_id, settings, item.secrets.get(_SECRET) or None
        )
        tenant_writes.add_application(access.work, client_id, settings, item.created_at or access.now, **secret)

    def change(self, access: StoreAccess, resource: Resource, item: Item) -> None:  # noqa: ARG002 - Store
        """Replace an application. A new secret leaves the former one valid for a while.

        An application without a secret loses both; an application that does not sign with its secret loses the encrypted copies.
        """
        row, client_id = _row(access, item.id[0]), item.content["client_id"]
        settings = _stored_settings(item, row.settings.keys() if row else frozenset())
        secret = item.secrets.get(_SECRET)
        values: dict[str, Any] = {}
        if not settings.has_secret:
            values = dict(client_secrets.NONE)
        elif secret not in (None, _STORED):
            values = {
                **client_secrets.columns(access.encryption, access.work.tenant_id, client_id, settings, str(secret)),
                "former_secret_hash": row.secret_hash if row else None,
                "former_sealed_secret": row.sealed_secret if row else None,
                "former_secret_until": access.now + _OVERLAP,
            }
        elif settings.token_endpoint_auth_method != SECRET_JWT:
            values = {"sealed_secret": None, "former_sealed_secret": None}
        if row is not None and row.registered_by == registered_applications.DOCUMENT and not settings.is_active:
            values["expires_at"] = None  # once removed as unused, it would be registered again, as active
        tenant_writes.change_application(access.work, client_id, settings, **values)

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:  # noqa: ARG002 - Store
        """Remove an application."""
        if (row := _row(access, item_id[0])) is not None:
            tenant_writes.remove_application(access.work, row.client_id)
            if row.registered_by is not None:
                registered_applications.remove(access.work, row.client_id)


def read_names(context: Context, item_input: ItemInput) -> None:
    """Store the interface's names as RFC 7591 spells them."""
    for name, stored, known in (("protocol", "protocol", _PROTOCOLS), ("application_type", "application_type", _TYPES)):
        if (value := item_input.computed.get(name)) is not None:
            item_input.values[stored,] = known[value]
    if (scopes := item_input.computed.get("allowed_scopes")) is not None:
        item_input.values["scope",] = " ".join(scopes)
    if (logout := item_input.computed.get("back_channel_logout")) is not None:
        _read_logout(context, item_input, logout)
    _read_second_names(context, item_input)
    if item_input.values.get(("security_profile",)) == FAPI:
        _read_algorithms(item_input)


def _read_second_names(context: Context, item_input: ItemInput) -> None:
    """Store the members that the interface has under two names.

    Raises BadField where both names are given, differ, and are both other than before: a program that read the client and sends
    it back has changed one of them.
    """
    config = item_input.computed.get("device_code_config")
    device = (
        oauth_client_operations.DeviceCodeConfig.model_validate(config.model_dump(exclude_none=True))
        if config
        else None
    )
    if device is not None:
        item_input.values["device_poll_seconds",] = device.polling_interval
    token_hook_rules.read(context, item_input)
    second = {
        "DeviceCodeConfig.DeviceCodeExpire": ("device_code_seconds", device.device_code_expire if device else None),
        "RequirePAR": ("require_pushed_authorization_requests", item_input.computed.get("require_par")),
        "AllowedWebOrigin": ("cors_origins", item_input.computed.get("allowed_web_origin")),
    }
    for name, (stored, value) in second.items():
        if value is not None:
            first = item_input.values.get((stored,)) if (stored,) in item_input.stated else None
            item_input.values[stored,] = _agreed(context, item_input, name, (stored, first), value)


def _agreed(context: Context, item_input: ItemInput, name: str, first: tuple[str, Any], second: Any) -> Any:
    """Return the value that counts of a setting with two names. Raises BadField."""
    stored, value = first
    if value is None or value == second:
        return second
    row = _row(StoreAccess.of(context), item_input.id.get("app_name", ""))
    before = ApplicationSettings.model_validate(row.settings).model_dump(mode="json")[stored] if row else None
    if before in (value, second):
        return second if before == value else value
    raise errors.BadField(f"{name}: the value of its other name, or leave one of them out.")


def _read_algorithms(item_input: ItemInput) -> None:
    """Leave the interface's default, RS256, to the security profile, which has another one."""
    for path in [(name,) for name in FAPI_DEFAULTS if item_input.values.get((name,)) == DEFAULT_ALGORITHM]:
        del item_input.values[path]
        item_input.cleared.add(path)


def _read_logout(context: Context, item_input: ItemInput, logout: Any) -> None:
    """Store the back-channel logout of a request; it replaces the whole object, and null is the default."""
    sent = logout.model_dump(by_alias=False, exclude_none=True, exclude_unset=True)
    stated = oauth_client_operations.BackChannelLogout.model_validate(sent)
    single, *more = dict.fromkeys(stated.logout_uris if stated.is_enabled else []) or [None]
    item_input.values["backchannel_logout_uris",] = more
    item_input.values["backchannel_logout_session_required",] = stated.session_required
    item_input.values["logout_token_seconds",] = stated.logout_token_ttl
    item_input.values["backchannel_logout_on",] = _reasons(context, item_input, stated.logout_initiator)
    if single is None:
        item_input.cleared.add(("backchannel_logout_uri",))
    else:
        item_input.values["backchannel_logout_uri",] = single


def _reasons(context: Context, item_input: ItemInput, initiator: oauth_client_operations.LogoutInitiator) -> Any:
    """Return the events after which logout tokens are sent. Raises BadField."""
    first, second = (
        [name for name in _REASONS if getattr(item, name)] if item is not None else None
        for item in (initiator, initiator.intiators)
    )
    if second is None or not initiator.model_fields_set.intersection(_REASONS):
        return first if second is None else second
    name = "BackChannelLogout.LogoutInitiator.Intiators"
    return _agreed(context, item_input, name, ("backchannel_logout_on", first), second)


def show_names(context: Context, content: StoredApplication, values: dict[str, Any]) -> None:
    values["protocol"] = next(shown for shown, stored in _PROTOCOLS.items() if stored == content.protocol)
    values["application_type"] = next(shown for shown, stored in _TYPES.items() if stored == content.application_type)
    values["allowed_scopes"] = content.scope.split()
    values["app_id"] = context.tenant.tenant_id
    values["require_par"] = content.require_pushed_authorization_requests
    values["allowed_web_origin"] = list(content.cors_origins)
    device = oauth_client_operations.DeviceCodeConfig(
        device_code_expire=content.device_code_seconds, polling_interval=content.device_poll_seconds
    )
    values["device_code_config"] = device.model_dump()
    token_hook_rules.show(context, content, values)
    if content.logout_urls:
        initiators = {name: name in content.backchannel_logout_on for name in _REASONS}
        values["back_channel_logout"] = {
            "is_enabled": True,
            "logout_uris": list(content.logout_urls),
            "logout_token_ttl": content.logout_token_seconds,
            "session_required": content.backchannel_logout_session_required,
            "logout_initiator": {**initiators, "mode": "RPInitiated", "intiators": initiators},
        }


def disagreements(content: StoredApplication, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - the hook's signature
    """Yield the values that a configuration file may not have either."""
    stated = content.model_dump(mode="json", exclude_unset=True, exclude=set(_BESIDE_SETTINGS))
    try:
        ApplicationFile.model_validate(stated)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        sentence = str(first["msg"]).removeprefix("Value error, ")
        name, colon, rest = sentence.partition(": ")
        yield (".".join(map(str, first["loc"])) or name, rest if colon and not first["loc"] else sentence)


def powers_of(context: Context, item: Item) -> Iterable[Power]:
    return client_powers.of_client(context, _settings(item), item.content.get("client_id", ""))


def check_sector(context: Context, before: Item | None, after: Item) -> None:
    """Raises BadField for a sector whose document does not list every redirect URI."""
    settings = _settings(after)
    if sector_identifiers.is_checked(_settings(before) if before is not None else None, settings):
        problem = sector_identifiers.problem_of(context.services.provider_metadata.resolver, settings)
        if problem:
            raise errors.BadField(f"SectorIdentifierURI: {problem}.")


def complete(context: Context, before: Item | None, after: Item) -> None:
    """Give a new client its id, if a file did not; drop a secret that its method does not need; publish its signing keys."""
    if before is None:
        after.content.setdefault("client_id", randomness.guid())
    if context.operation is not None:  # of a file, `sections/chosen_workflows.py` checks what it leaves
        workflow_choices.refuse_unusable(context, "Workflows", _new_workflows(before, after))
        former = before.content.get("theme_name") if before is not None else None
        themed_tenant.refuse_unknown(context, "ThemeName", after.content.get("theme_name"), former)
    if not _settings(after).has_secret:
        after.secrets.clear()
    if context.work.is_writing:  # not for the plan of a configuration file
        context.services.signing_keys.publish(context.work, _settings(after).algorithms)


def _new_workflows(before: Item | None, after: Item) -> set[str]:
    former = before.content.get("workflows", ()) if before is not None else ()
    return {*after.content.get("workflows", ())}.difference(former)


def rotate(context: Context, item: Item, body: Any) -> oauth_client_operations.Credentials:  # noqa: ARG001 - the hook's signature
    """Return the new secret. Raises BadField for a client without one."""
    if not _settings(item).has_secret:
        raise errors.BadField("TokenEndpointAuthMethod: one with a client_secret; this client has none.")
    return oauth_client_operations.Credentials(client_id=item.content["client_id"], client_secret=item.secrets[_SECRET])


def _row(access: StoreAccess, name: str) -> ApplicationRow | None:
    return tenant_writes.application_named(access.work, name)


def item_of(row: ApplicationRow) -> Item:
    """Return a stored application as an item."""
    secrets = {_SECRET: _STORED} if row.secret_hash else {}
    content = {**row.settings, "client_id": row.client_id, "registered_by": row.registered_by}
    return Item((str(row.settings["name"]),), content, secrets, created_at=row.created_at, modified_at=row.created_at)


def _settings(item: Item) -> ApplicationSettings:
    return ApplicationSettings.model_validate(
        {name: element for name, element in item.content.items() if name not in _BESIDE_SETTINGS}
    )


def _stored_settings(item: Item, stored: Set[str] = frozenset()) -> ApplicationSettings:
    """Return the settings to store: without defaults that no file names and that were not stored before.

    An older process may not know them.
    """
    settings, explicit = _settings(item), {*stored, *_NAMED, *item.origin.get("named", ())}
    content = settings.model_dump(mode="json", exclude_unset=True)
    retained = {name for name in content if name in explicit or not _is_default(settings, name)}
    return ApplicationSettings.model_validate({name: content[name] for name in content if name in retained})


def _is_default(settings: ApplicationSettings, name: str) -> bool:
    field = ApplicationSettings.model_fields[name]
    return not field.is_required() and getattr(settings, name) == field.get_default(call_default_factory=True)


RULES: Final = {
    oauth_client_operations.CLIENTS: Rules(
        on_input=read_names,
        on_output=show_names,
        problems=disagreements,
        powers=powers_of,
        before_lock=check_sector,
        before_write=complete,
        actions={"rotate": rotate},
        store=ApplicationStore(),
    ),
}
