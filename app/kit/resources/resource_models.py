"""Request and response models of a resource's operations, derived from the model of its declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Optional, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from app.kit.operations.partial_update import PartialUpdate
from app.kit.operations.wire import From, Nothing, Wire
from app.kit.resources.resource import (
    COMPUTED,
    FIXED,
    NOT_CONTENT,
    NOT_IN_REQUESTS,
    SECRET,
    SET_BY_SERVICE,
    VERSION,
    FieldRole,
    Flattened,
    Key,
    Malformed,
    NotListed,
    RequestName,
    Resource,
    ResourceAction,
    ResourceMember,
    ResponseType,
    SettingsKey,
    StoredAs,
    inner_model,
    mark_of,
    stored_key,
    wire_name,
)

MAX_ON_A_PAGE = 200
MARKS = (Key, FieldRole, RequestName, ResponseType, NotListed, StoredAs, SettingsKey, Flattened, Malformed, From)
Fields = dict[str, tuple[Any, Any]]
IDEMPOTENCY_KEY = "in_header_idempotency_key"
"""The field of a creating request that makes it idempotent: a repetition within a day gets the same response."""
_IDEMPOTENCY: Fields = {
    IDEMPOTENCY_KEY: (
        Annotated[str | None, From.HEADER],
        Field(
            default=None,
            max_length=255,
            alias="Idempotency-Key",
            description="Repeat a request safely: within a day the same key gets the same response.",
        ),
    )
}


class Content(BaseModel):
    """The stored content of an item, as in a configuration file."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def list_request(resource: Resource) -> type[Wire]:
    """Return the request that lists a collection, with the page if the list is paged."""
    page: Fields = {
        "page": (Annotated[int | None, From.QUERY], Field(default=None, ge=1, le=1_000_000)),
        "page_size": (Annotated[int | None, From.QUERY], Field(default=None, ge=1, le=MAX_ON_A_PAGE)),
    }
    return _create(f"{resource.model.__name__}List", Wire, page) if resource.is_paged else Nothing


def create_request(resource: Resource) -> type[Wire]:
    """Return the request that creates an item, or sets a singleton."""
    headers = {} if resource.is_singleton else _IDEMPOTENCY
    return _request(resource, "New", lambda _: False, headers=headers)


def update_request(resource: Resource, *, id_in_body: bool = False) -> type[Wire]:
    """Return the request that changes an item: the id's parameters in the path or in the body, no FIXED fields."""
    return _request(
        resource,
        "Changed",
        lambda info: mark_of(info, FieldRole) is FIXED,
        is_update=True,
        id_in_body=id_in_body,
    )


def replace_request(resource: Resource) -> type[Wire]:
    """Return the request that replaces the whole collection."""
    item: Any = _request(resource, "Each", lambda _: False)
    name = f"All{resource.model.__name__}"
    return _create(name, Wire, {"data": (list[item], Field(max_length=resource.max_items))})


def item_request(resource: Resource, *, needs_id: bool) -> type[Wire]:
    """Return the request that identifies an item, in the path and, if the complete id is needed, in the body."""
    fields = _in_path(resource.keys)
    for member in resource.keys if needs_id else ():
        if member.key and not member.key.parameter:
            alias = wire_name(Wire, member.fields[0], member.info)
            fields[member.fields[0]] = (_bare(member.info, is_nullable=False), Field(alias=alias))
    name = f"{resource.model.__name__}{'Gone' if needs_id else 'Of'}"
    return _create(name, Wire, fields) if fields else Nothing


@cache
def _path_request(resource: Resource) -> type[Wire]:
    """Return the request of the actions without fields of their own."""
    return _create(f"{resource.model.__name__}Path", Wire, _in_path(resource.keys))


def action_request(resource: Resource, action: ResourceAction) -> type[Wire]:
    """Return the request of an action: the id in the path, and the action's own fields."""
    if action.request is Wire:
        return _path_request(resource)
    name = f"{resource.model.__name__}{action.name.title().replace('_', '')}"
    fields = _in_path(resource.keys)
    return _create(name, action.request, fields)


def answer(resource: Resource) -> type[Wire]:
    """Return the response: the model of a singleton; for an item of a collection a model with all members, without bounds."""
    if resource.is_singleton:
        return resource.model
    return _answer(resource.model)


@cache
def listed_answer(resource: Resource) -> type[Wire]:
    """Return an item in the response of a list: without the fields that lists leave out."""
    full, model = answer(resource), resource.model
    left_out = {name for name, info in model.model_fields.items() if mark_of(info, NotListed)}
    if not left_out:
        return full
    fields: Fields = {
        name: (info.annotation, Field(alias=_alias(info), description=info.description))
        for name, info in full.model_fields.items()
        if name not in left_out
    }
    return _create(f"Listed{model.__name__}", Wire, fields, model.__doc__)


@cache
def list_answer(resource: Resource) -> type[Wire]:
    """Return the response of a list."""
    item: Any = listed_answer(resource)
    return _create(f"{resource.model.__name__}s", Wire, {"data": (list[item], ...)})


def content_of(resource: Resource) -> type[BaseModel]:
    """Return the model of the stored content: the declared one, or one with the model's field names."""
    return resource.content or _content(resource)


@cache
def _content(resource: Resource) -> type[BaseModel]:
    return _content_model(resource.model)


def _is_set_by_service(info: FieldInfo) -> bool:
    return mark_of(info, FieldRole) in SET_BY_SERVICE


def _content_model(model: type[Wire], is_left_out: Callable[[FieldInfo], bool] = lambda _: False) -> type[BaseModel]:
    fields: Fields = {}
    for name, info in model.model_fields.items():
        inner = inner_model(info.annotation)
        is_empty = inner is not None and all(
            is_left_out(field) or not _is_stored(field) for field in inner.model_fields.values()
        )
        if _is_stored(info) and not is_left_out(info) and not is_empty:
            annotation = _inner_content(info, is_left_out)
            default = _content_default(annotation, info.default)
            fields[stored_key(name, info)] = (annotation, _plain(info, default, info.default_factory))
    return _create_model(f"{model.__name__}Content", Content, fields, model.__doc__)


def _content_default(annotation: Any, default: Any) -> Any:
    """Return the default of a field; that of an inner model has the keys of the content."""
    if not isinstance(default, Wire) or not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return default
    values = {
        stored_key(name, info): getattr(default, name)
        for name, info in type(default).model_fields.items()
        if stored_key(name, info) in annotation.model_fields
    }
    return annotation.model_validate(values)


@cache
def file_model(resource: Resource) -> type[BaseModel]:
    """Return the model of an item in a configuration file: content without what the service sets, optional generated id and secrets."""
    declared = resource.file_content or resource.content
    base = declared or _content_model(resource.model, is_left_out=_is_set_by_service)
    more: Fields = {}
    for member in resource.keys:
        if member.key and member.key.is_minted:
            note = "The generated id. If absent, the item is found by its unique fields, else created."
            more[member.fields[-1]] = (str | None, Field(default=None, description=note))
    for member in resource.members:
        if SECRET in member.roles:
            more[member.fields[-1]] = (
                str | None,
                Field(default=None, description="If absent, the current one stays."),
            )
    if not more:
        return base
    return _create_model(f"{resource.model.__name__}File", base, more, base.__doc__)


def _inner_content(info: FieldInfo, is_left_out: Callable[[FieldInfo], bool]) -> Any:
    inner = inner_model(info.annotation)
    if inner is None:
        return _annotated(_mapped_content(info.annotation, is_left_out), _validators(info))
    made = _content_model(inner, is_left_out)
    return Optional[made] if inner is not info.annotation else made  # noqa: UP045 - a model made at run time


def _mapped_content(annotation: Any, is_left_out: Callable[[FieldInfo], bool]) -> Any:
    """Return the type of a field; in a map of models, these by the names of the content."""
    if get_origin(annotation) is not dict:
        return annotation
    key, value = get_args(annotation)
    inner = inner_model(value)
    return annotation if inner is None else dict[key, _content_model(inner, is_left_out)]  # type: ignore[valid-type,misc] # made at run time


def _is_stored(info: FieldInfo) -> bool:
    key = mark_of(info, Key)
    return mark_of(info, FieldRole) not in NOT_CONTENT and not (key and key.is_minted)


def _request(
    resource: Resource,
    prefix: str,
    is_left_out: Callable[[FieldInfo], bool],
    *,
    is_update: bool = False,
    id_in_body: bool = False,
    headers: Fields | None = None,
) -> type[Wire]:
    """Return the model without fields that requests cannot set; a singleton's model itself if it has none of these."""
    has_path_id = is_update and not id_in_body
    fields = _request_fields(resource, resource.model, is_left_out, is_update=is_update, has_path_id=has_path_id)
    if fields is None:
        return resource.model
    if has_path_id:
        fields |= _in_path(resource.keys)
    name = f"{prefix}{resource.model.__name__}"
    return _create(name, _base(resource, is_update=is_update), {**fields, **(headers or {})})


def _base(resource: Resource, *, is_update: bool) -> type[Wire]:
    return PartialUpdate if is_update and resource.partial else Wire


def _request_fields(
    resource: Resource,
    model: type[Wire],
    is_left_out: Callable[[FieldInfo], bool],
    *,
    is_update: bool,
    has_path_id: bool,
) -> Fields | None:
    """Return the fields of a request's body; None if they are exactly the model's."""
    fields: Fields = {}
    is_same = resource.is_singleton
    for name, info in model.model_fields.items():
        key = mark_of(info, Key)
        role = mark_of(info, FieldRole)
        is_excluded = role in NOT_IN_REQUESTS or (role is VERSION and not is_update) or is_left_out(info)
        if is_excluded or (key and (key.is_minted or (has_path_id and key.parameter))):
            is_same = False
            continue
        inner = inner_model(info.annotation) if role is not COMPUTED else None  # its hook reads the model itself
        nested = None
        if inner:
            nested = _request_fields(resource, inner, is_left_out, is_update=is_update, has_path_id=has_path_id)
        annotation: Any = _annotated(info.annotation, info.metadata)
        if inner is not None and nested is not None:
            name_of_inner = f"{'Changed' if is_update else 'New'}{inner.__name__}"
            made = _create(name_of_inner, _base(resource, is_update=is_update), nested)
            annotation = Optional[made] if inner is not info.annotation else made  # noqa: UP045 - made at run time
        request_name, is_optional = mark_of(info, RequestName), is_update and resource.partial and key is None
        is_same = is_same and not (request_name or is_optional or nested is not None)
        default = None if is_optional else info.default
        alias = request_name.name if request_name else _alias(info)
        fields[name] = (
            Annotated[annotation | None, Field()] if is_optional else annotation,
            _plain(info, default, None if is_optional else info.default_factory, alias),
        )
    return None if is_same else fields


def _alias(info: FieldInfo) -> str | None:
    """Return a field's explicit wire name."""
    return info.alias if info.alias_priority == 2 else None


@cache
def _answer(model: type[Wire]) -> type[Wire]:
    fields: Fields = {}
    for name, info in model.model_fields.items():
        shown, is_computed = mark_of(info, ResponseType), mark_of(info, FieldRole) is COMPUTED
        inner = None if is_computed else inner_model(info.annotation)
        annotation: Any = shown.annotation if shown else info.annotation
        if inner is not None and not shown:
            made = _answer(inner)
            annotation = Optional[made] if inner is not info.annotation else made  # noqa: UP045 - made at run time
        fields[name] = (annotation, Field(alias=_alias(info), description=info.description))
    return _create(model.__name__, Wire, fields, model.__doc__)


def _in_path(members: Iterable[ResourceMember]) -> Fields:
    described = {key.parameter: member.info.description for member in members if (key := member.key) and key.parameter}
    return {
        f"in_path_{name.lower()}": (Annotated[str, From.PATH], Field(alias=name, description=text))
        for name, text in described.items()
    }


def _bare(info: FieldInfo, *, is_nullable: bool) -> Any:
    """Return a field's type with its bounds, without null."""
    kinds = [
        item
        for item in getattr(info.annotation, "__args__", (info.annotation,))
        if is_nullable or item is not type(None)
    ]
    return _annotated(kinds[0], _validators(info))


def _annotated(annotation: Any, metadata: Sequence[Any]) -> Any:
    return Annotated[annotation, *metadata] if metadata else annotation


def _validators(info: FieldInfo) -> list[Any]:
    """Return the validators in a field's metadata, without the marks."""
    return [item for item in info.metadata if not isinstance(item, MARKS)]


def _plain(info: FieldInfo, default: Any, factory: Any, alias: str | None = None) -> Any:
    named: dict[str, Any] = {"alias": alias, "description": info.description, "examples": info.examples}
    return Field(default_factory=factory, **named) if factory is not None else Field(default=default, **named)


def _create(name: str, base: type[Wire], fields: Fields, doc: str | None = None) -> type[Wire]:
    return _create_model(name, base, fields, doc)


Model = TypeVar("Model", bound=BaseModel)


def _create_model(name: str, base: type[Model], fields: Mapping[str, Any], doc: str | None = None) -> type[Model]:
    create: Any = create_model
    made: type[Model] = create(name, __base__=base, __doc__=doc, **fields)
    return made
