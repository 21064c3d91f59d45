"""The operations of a resource's declaration: name, path, request, response, errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.kit.operations import partial_update
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import AnyOperation
from app.kit.operations.wire import Nothing, Wire, shape_of
from app.kit.resources import resource_models
from app.kit.resources.checks import check
from app.kit.resources.resource import (
    CREATE,
    DELETE,
    LIST,
    READ,
    REPLACE,
    UPDATE,
    Malformed,
    Resource,
    ResourceAction,
    Verb,
    VerbOptions,
)


@dataclass(frozen=True)
class OperationDraft:
    """An operation before it is declared."""

    resource: Resource
    verb_options: VerbOptions | None  # None: an action
    action: ResourceAction | None
    name: str
    at: str  # "METHOD /path"
    also: tuple[str, ...]
    models: tuple[type[Wire], type[Wire]]
    """Of the request and of the response."""
    errors: tuple[type[ApiError], ...]
    summary: str
    description: str
    scope: str

    @property
    def has_body(self) -> bool:
        return shape_of(self.models[0]).has_body


@dataclass(frozen=True)
class BoundOperation:
    """A declared operation of a resource."""

    operation: AnyOperation
    draft: OperationDraft

    @property
    def resource(self) -> Resource:
        return self.draft.resource

    @property
    def bad(self) -> type[ApiError]:
        """The error of a malformed field."""
        return self.draft.resource.error_profile.bad_parameter

    @property
    def empty(self) -> type[ApiError]:
        """The error of a body that sets nothing."""
        empty_put = self.draft.resource.error_profile.empty_put_body
        return empty_put if empty_put is not None and self.operation.method == "PUT" else self.bad

    @property
    def unset(self) -> type[ApiError] | None:
        """The error of a singleton that was never set; None if it has a default or is set by this operation."""
        resource, options = self.draft.resource, self.draft.verb_options
        return {READ: resource.unset, UPDATE: _unset(resource)}.get(options.verb) if options else None

    @property
    def unknown(self) -> type[ApiError]:
        """The error of an unknown item."""
        own = self.draft.verb_options.unknown if self.draft.verb_options else None
        resource = self.draft.resource
        return own or resource.unknown or resource.error_profile.bad_parameter


def drafts(resource: Resource) -> Iterator[OperationDraft]:
    """Yield every operation of a resource. Raises ResourceError for a contradictory declaration."""
    check(resource)
    for options in resource.verbs:
        yield _draft(resource, options)
    for action in resource.actions:
        yield _action(resource, action)


def _draft(resource: Resource, options: VerbOptions) -> OperationDraft:
    verb = options.verb
    paths = [
        path if resource.is_singleton or not verb.is_at_item or options.id_in_body else resource.item_path(path)
        for path in ((options.path,) if options.path else resource.paths)
    ]
    return OperationDraft(
        resource,
        options,
        None,
        f"{resource.area}.{options.name or verb.name.lower()}",
        f"{verb.method} {paths[0]}",
        tuple(paths[1:]),
        _models(resource, options),
        tuple(dict.fromkeys((*options.errors, *_errors(resource, options)))),
        options.summary or _summary(resource, verb),
        options.description or _description(resource, verb),
        f"{resource.scope}:{verb.scope}" if resource.scope else "",
    )


def _summary(resource: Resource, verb: Verb) -> str:
    words = "Set {item}" if verb is CREATE and resource.is_singleton else verb.summary
    item = resource.noun if resource.is_singleton else resource.with_article
    return words.format(items=resource.plural, item=item)


def _description(resource: Resource, verb: Verb) -> str:
    words = verb.description
    if verb is UPDATE and resource.partial:
        words = f"Changes {{item}}. {partial_update.NOTE}"
    if verb is CREATE and resource.is_singleton:
        words = "Sets {item} for the first time."
    text = words.format(items=resource.plural, item=resource.with_article)
    return " ".join(filter(None, (text, resource.about if verb is not DELETE else "")))


def _action(resource: Resource, action: ResourceAction) -> OperationDraft:
    errors = tuple(dict.fromkeys((*action.errors, *([resource.unknown] if resource.unknown else []))))
    scope = f"{resource.scope}:update" if resource.scope else ""
    name = f"{resource.area}.{action.name}"
    return OperationDraft(
        resource, None, action, name, action.address, (),
        (resource_models.action_request(resource, action), action.answer or resource_models.answer(resource)),
        errors, action.summary, action.description, scope,
    )  # fmt: skip


def _models(resource: Resource, options: VerbOptions) -> tuple[type[Wire], type[Wire]]:
    """Return the request and the response of an operation."""
    verb = options.verb
    item = resource_models.answer(resource)
    if resource.is_singleton:
        return (Nothing if verb is READ else resource_models.create_request(resource)), item
    listed = resource_models.list_answer(resource)
    if verb is LIST:
        return resource_models.list_request(resource), listed
    if verb is READ:
        return resource_models.item_request(resource, needs_id=False), listed if is_list(resource, verb) else item
    if verb is DELETE:
        return resource_models.item_request(resource, needs_id=True), resource.deleted
    if verb is REPLACE:
        return resource_models.replace_request(resource), listed
    if verb is CREATE:
        return resource_models.create_request(resource), item
    return resource_models.update_request(resource, id_in_body=options.id_in_body), item


def is_list(resource: Resource, verb: Verb) -> bool:
    """Return whether an operation returns several items: a path with a part of the id returns all items that share it."""
    return verb in (LIST, REPLACE) or (
        verb is READ and any(member.key and not member.key.parameter for member in resource.keys)
    )


def _errors(resource: Resource, options: VerbOptions) -> Iterator[type[ApiError]]:
    yield from resource.errors
    verb = options.verb
    by_verb: dict[Verb, tuple[type[ApiError] | None, ...]] = {
        LIST: (options.unknown,),
        READ: (options.unknown or resource.unknown, resource.unset),
        CREATE: (resource.exists, resource.full),
        UPDATE: (
            options.unknown or resource.unknown,
            resource.exists if resource.unique else None,
            _unset(resource),
            resource.outdated,
        ),
        REPLACE: (resource.exists,),
        DELETE: (options.unknown or resource.unknown,),
    }
    yield from (item for item in by_verb[verb] if item is not None)
    if verb in (CREATE, UPDATE, REPLACE):
        yield from (mark.error for member in resource.members if (mark := member.mark(Malformed)))


def _unset(resource: Resource) -> type[ApiError] | None:
    """Return the error of an update of a singleton that was never set, if another operation creates it; else None."""
    return resource.unset if any(item.verb is CREATE for item in resource.verbs) else None
