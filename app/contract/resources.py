"""Declares resources into the catalogue: each becomes its operations, and one entry of RESOURCES."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, Final, TypedDict, Unpack

from pydantic import BaseModel

from app import contract
from app.contract.auth import MACHINE_TOKEN, Host
from app.contract.catalogue import CATALOGUE, WHOLE_LIST
from app.contract.configuration_model import ConfigurationModel
from app.contract.error_profiles import MANAGE
from app.contract.shared_responses import Deleted
from app.contract.tenants.settings import TenantSettings
from app.kit.operations.auth import Admission, Auth
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import (
    Accept,
    AnyOperation,
    BodyRules,
    Catalogue,
    Documentation,
    ErrorProfile,
    Operation,
)
from app.kit.operations.wire import Wire
from app.kit.resources.checks import check
from app.kit.resources.operations import BoundOperation, OperationDraft, drafts
from app.kit.resources.resource import (
    Backing,
    InSettings,
    Resource,
    ResourceAction,
    ResourceError,
    Verb,
    VerbOptions,
)
from app.kit.resources.resource_models import MAX_ON_A_PAGE

RESOURCES: list[Resource] = []
BOUND: list[BoundOperation] = []
"""Every operation of every resource."""
Verbs = tuple[Verb | VerbOptions, ...]


class ResourceOptions(TypedDict, total=False):
    """Options of a resource, as documented at `Resource`."""

    scope: str
    auth: Auth
    error_profile: ErrorProfile
    also: tuple[str, ...]
    exists: type[ApiError]
    unknown: type[ApiError]
    full: type[ApiError]
    deleted: type[Wire]
    unset: type[ApiError]
    outdated: type[ApiError]
    errors: tuple[type[ApiError], ...]
    actions: tuple[ResourceAction, ...]
    backing: Backing
    content: type[BaseModel]
    file_content: type[BaseModel]
    ids: tuple[str, ...]
    unique: tuple[str, ...]
    fold: Callable[[str], str]
    max_items: int
    partial: bool
    is_paged: bool
    has_default_page: bool
    takes_markup: bool
    file_key: str
    file_note: str
    audit: str
    audit_names: tuple[str, ...]
    about: str


def collection(
    area: str,
    path: str,
    model: type[Wire],
    *,
    verbs: Verbs,
    noun: str,
    kind: str = "",
    **facts: Unpack[ResourceOptions],
) -> Resource:
    """Declare a collection and its operations."""
    return declare(resource(area, path, model, verbs, noun=noun, kind=kind or area, **facts))


def singleton(
    area: str, path: str, model: type[Wire], *, verbs: Verbs, noun: str, kind: str, **facts: Unpack[ResourceOptions]
) -> Resource:
    """Declare a singleton and its operations; its `kind` is unique in its area."""
    declared_resource = resource(area, path, model, verbs, noun=noun, kind=kind, is_singleton=True, **facts)
    check(declared_resource)
    _check_paths(declared_resource)
    return declare(declared_resource)


def resource(
    area: str,
    path: str,
    model: type[Wire],
    verbs: Verbs,
    *,
    noun: str,
    kind: str,
    is_singleton: bool = False,
    **facts: Unpack[ResourceOptions],
) -> Resource:
    """Return a resource without declaring its operations."""
    options: ResourceOptions = {"error_profile": MANAGE, "auth": MACHINE_TOKEN, "deleted": Deleted, **facts}
    if is_singleton and isinstance(options.get("backing"), InSettings):
        options["content"] = TenantSettings
    does = tuple(verb if isinstance(verb, VerbOptions) else VerbOptions(verb) for verb in verbs)
    return Resource(area, kind, noun, model, path, does, is_singleton=is_singleton, **options)


def older_spelling(current: Resource, path: str, model: type[Wire], **facts: Unpack[ResourceOptions]) -> Resource:
    """Declare the operations of a resource at an older address too, with callers and errors of its own, on the same items.

    Their names begin with `older_`. Actions and the configuration file are the resource's alone.
    """
    verbs = tuple(
        replace(options, name=f"older_{draft.name.rpartition('.')[2]}", summary=f"{draft.summary} (older address)")
        for draft in drafts(current)
        if (options := draft.verb_options) is not None
    )
    own: dict[str, Any] = {"actions": (), "file_key": "", **facts}
    older = replace(current, path=path, model=model, verbs=verbs, **own)
    BOUND.extend(bound(older))
    return older


_WITHOUT_OPERATIONS: Final = frozenset(
    {
        f"{contract.__name__}.federation.provider_presets",
        f"{contract.__name__}.themes.mail_templates",
        f"{contract.__name__}.themes.page_templates",
        f"{contract.__name__}.themes.part_templates",
        f"{contract.__name__}.themes.theme_contract",
    }
)
"""Modules without operations, which only tenants with connections, or templates of themes, need."""


@cache
def import_contract() -> None:
    """Import every module of the contract that may declare operations, so that the catalogue is complete."""
    for module in pkgutil.walk_packages(contract.__path__, f"{contract.__name__}."):
        if module.name not in _WITHOUT_OPERATIONS:
            import_module(module.name)


def file_resources() -> tuple[Resource, ...]:
    """Return the resources with their own key in configuration files, by key: in any order of imports the same."""
    import_contract()
    return tuple(sorted((item for item in RESOURCES if item.file_key), key=lambda item: item.file_key))


def declare(declared_resource: Resource) -> Resource:
    """Declare a resource's operations into the catalogue."""
    BOUND.extend(bound(declared_resource))
    RESOURCES.append(declared_resource)
    return declared_resource


def bound(resource: Resource, catalogue: Catalogue = CATALOGUE) -> list[BoundOperation]:
    """Declare a resource's operations into a catalogue."""
    bound_operations = []
    for draft in drafts(resource):
        method, _, path = draft.at.partition(" ")
        declared: AnyOperation = Operation(
            draft.name, method, path, *draft.models, Host.API, resource.error_profile,
            also=draft.also, errors=draft.errors, admission=Admission(resource.auth, scope=draft.scope),
            body=BodyRules(
                accepts=Accept.JSON if draft.has_body else Accept.JSON_OR_FORM,
                takes_markup=resource.takes_markup and method in ("POST", "PUT"),
            ),
            documentation=Documentation(draft.summary, draft.description), heavy_work=WHOLE_LIST if _is_long(draft) else None,
        )  # fmt: skip
        catalogue.add(declared)
        bound_operations.append(BoundOperation(declared, draft))
    return bound_operations


def _is_long(draft: OperationDraft) -> bool:
    """Return whether the operation answers a list that is complete without `page`, and may be long."""
    of = draft.resource
    is_list = draft.verb_options is not None and draft.verb_options.verb is Verb.LIST
    return is_list and of.is_paged and not of.has_default_page and of.max_items > MAX_ON_A_PAGE


def _check_paths(resource: Resource) -> None:
    """Refuse a singleton with a field stored under a key that the settings do not have."""
    if not isinstance(resource.backing, InSettings):
        return
    for member in resource.members:
        if member.is_content and not _is_key(TenantSettings, member.path):
            where = ".".join(member.path)
            raise ResourceError(
                f"The resource {resource.area}/{resource.kind}: the settings have no key {where} for {member.request_name}."
            )


def _is_key(model: Any, path: tuple[str, ...]) -> bool:
    for number, name in enumerate(path):
        fields = getattr(model, "model_fields", {})
        if name not in fields:
            return False
        annotation = fields[name].annotation
        options = [annotation, *getattr(annotation, "__args__", ())]
        inner = next(
            (option for option in options if isinstance(option, type) and issubclass(option, ConfigurationModel)), None
        )
        if inner is None:
            return number == len(path) - 1
        model = inner
    return True
