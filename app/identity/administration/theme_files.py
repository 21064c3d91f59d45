"""The static files of a theme, for management programs. Each change is a change of the theme."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import replace

from app.contract import errors
from app.contract.shared_responses import Deleted
from app.contract.tenants.branding import stored_brand
from app.contract.themes import theme_operations, theme_problems
from app.contract.themes.theme_operations import THEMES
from app.identity.administration.resource_operations import resource_operations
from app.identity.administration.resource_operations.write_resources import Writer
from app.identity.directory.tenants import theme_file_content, theme_files
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.kit.design import theme_file_names


@theme_operations.list_files.implements
def list_files(context: Context, req: theme_operations.ThemeFilesOf) -> theme_operations.ThemeFiles:
    files = _files(_theme(context, req.theme_id))
    sizes = theme_files.sizes(context.work, files.values())
    return theme_operations.ThemeFiles(data=[_file(files, name, sizes.get(files[name], 0)) for name in sorted(files)])


@theme_operations.read_file.implements
def read_file(context: Context, req: theme_operations.ThemeFileOf) -> theme_operations.ThemeFileContent:
    files = _files(_theme(context, req.theme_id))
    stored = theme_files.find(context.work, files[req.name]) if req.name in files else None
    if stored is None:
        raise errors.UnknownThemeFile
    file = _file(files, req.name, len(stored.content))
    return theme_operations.ThemeFileContent(**file.model_dump(), content=b64encode(stored.content).decode())


@theme_operations.put_file.implements
def put_file(context: Context, req: theme_operations.NewThemeFile) -> theme_operations.ThemeFile:
    content = _checked(context, req.name, req.content)
    resource_operations.lock_tenant(context)
    theme = _theme(context, req.theme_id)
    files = {**_files(theme), req.name: theme_file_names.digest_of(content)}
    sizes = theme_files.sizes(context.work, files.values())
    by_name = {name: sizes.get(digest, 0) for name, digest in files.items()} | {req.name: len(content)}
    if sentence := theme_file_names.total_problem(by_name):
        raise errors.ThemeFileRefused(f"{req.name}: {sentence}.")
    if not theme_files.store(
        context.work, [(req.name, content)], context.now, is_sqlite=context.services.database.is_sqlite
    ):
        raise errors.ThemeFileRefused(f"{req.name}: {theme_files.TOO_MANY_BYTES}.")
    _write(context, theme, files)
    return _file(files, req.name, len(content))


@theme_operations.delete_file.implements
def delete_file(context: Context, req: theme_operations.ThemeFileOf) -> Deleted:
    resource_operations.lock_tenant(context)
    theme = _theme(context, req.theme_id)
    files = dict(_files(theme))
    if files.pop(req.name, None) is None:
        raise errors.UnknownThemeFile
    if req.name not in theme_problems.unused_files(stored_brand(theme.content.get("brand"))):
        raise errors.ThemeFileInUse
    _write(context, theme, files)
    return Deleted()


def _checked(context: Context, name: str, encoded: str) -> bytes:
    """Return the content of a file. Holds no connection meanwhile. Raises ThemeFileRefused."""
    if not theme_file_names.is_name(name):
        raise errors.ThemeFileRefused(f"{name[:100]}: expected {theme_file_names.EXPECTED_NAME}.")
    try:
        content = b64decode(encoded, validate=True)
    except ValueError:
        raise errors.ThemeFileRefused(f"{name}: expected base64.") from None
    context.work.release_connection()
    if sentence := theme_file_content.problem(name, content, context.services.images, context.tenant.tenant_id):
        raise errors.ThemeFileRefused(f"{name}: {sentence}.")
    return content


def _theme(context: Context, theme_id: str) -> Item:
    theme = SHARED_TABLE.item(StoreAccess.of(context), THEMES, (theme_id,))
    if theme is None:
        raise errors.UnknownTheme
    return theme


def _files(theme: Item) -> Mapping[str, str]:
    files: Mapping[str, str] = (theme.content.get("brand") or {}).get("files") or {}
    return files


def _write(context: Context, theme: Item, files: Mapping[str, str]) -> None:
    content = {**theme.content, "brand": {**(theme.content.get("brand") or {}), "files": dict(files)}}
    after = replace(theme, content=content, modified_at=context.now)
    writer = Writer(context, THEMES, errors.BadField, errors.BadField())
    writer.check(after)
    resource_operations.write_item(writer, theme, after)


def _file(files: Mapping[str, str], name: str, size_bytes: int) -> theme_operations.ThemeFile:
    media_type = theme_file_names.MEDIA_TYPES[theme_file_names.kind_of(name)]
    path = theme_file_names.address(name, files)
    return theme_operations.ThemeFile(
        name=name, digest=files[name], media_type=media_type, size_bytes=size_bytes, path=path
    )
