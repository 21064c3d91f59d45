"""Uploaded images: the pictures of accounts and the logos of organizations, one of each (decision 0398)."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

from sqlalchemy import Column, Index, LargeBinary, String, delete, insert, select

from app.contract import errors
from app.contract.images.errors import IMAGE_ERRORS
from app.contract.images.image_pages import UPLOADED_IMAGES
from app.identity.platform.context import Context
from app.identity.platform.store.tables import Id, Instant, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.images.image_converter import ConvertedImage
from app.kit.images.image_format import ImageTarget, UnusableImage

pictures = tenant_table(
    "pictures",
    Column("name", String(40), primary_key=True),  # random, and never used again
    Column("uid", Id),  # the account or the organization that it shows
    Column("org_id", Id),
    Column("media_type", String(40), nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_pictures_account", "tenant_id", "uid"),
    Index("ix_pictures_organization", "tenant_id", "org_id"),
)
P = pictures.c
_ENDINGS = {"image/jpeg": ".jpg", "image/png": ".png"}


def converted(context: Context, content: str, target: ImageTarget) -> ConvertedImage:
    """Return an uploaded file, in base64, as it is served. Holds no connection meanwhile.

    Raises the refusals of `IMAGE_ERRORS`, BadParameter for another encoding, ImagesBusy.
    """
    try:
        decoded = b64decode(content, validate=True)
    except ValueError:
        raise errors.BadParameter("The image is not formatted correctly: expected base64.") from None
    context.work.release_connection()
    try:
        return context.services.images.convert(decoded, target, context.tenant.tenant_id)
    except UnusableImage as refusal:
        raise IMAGE_ERRORS[refusal.reason] from None


def new_address(context: Context, image: ConvertedImage) -> str:
    """Return the address that an image will have, under a name that nobody can guess."""
    return f"{context.pages_url}{UPLOADED_IMAGES}{randomness.token(24)}{_ENDINGS[image.media_type]}"


def add(
    context: Context, address: str, image: ConvertedImage, *, uid: str | None = None, org_id: str | None = None
) -> None:
    """Store the image of an account or an organization at an address of `new_address`.

    The caller has locked its owner, and replaced the address of the former image by this one.
    """
    row = {"tenant_id": context.tenant.tenant_id, "name": address.rpartition("/")[2], "uid": uid, "org_id": org_id}
    values = {"media_type": image.media_type, "content": image.content, "created_at": context.now}
    context.work.run(insert(pictures).values(**row, **values))


def find(work: UnitOfWork, name: str) -> ConvertedImage | None:
    """Return the image of this name."""
    row = work.one(select(P.media_type, P.content).where(P.tenant_id == work.tenant_id, P.name == name))
    return ConvertedImage(row.media_type, row.content) if row is not None else None


def names(work: UnitOfWork, at_most: int) -> list[str]:
    """Return the names of the tenant's images, or `at_most` of them."""
    return [row.name for row in work.all(select(P.name).where(P.tenant_id == work.tenant_id).limit(at_most))]


def of_account(work: UnitOfWork, uid: str) -> ConvertedImage | None:
    """Return the account's uploaded picture."""
    row = work.one(select(P.media_type, P.content).where(P.tenant_id == work.tenant_id, P.uid == uid))
    return ConvertedImage(row.media_type, row.content) if row is not None else None


def delete_of_account(work: UnitOfWork, uid: str) -> None:
    """Delete the account's picture: its profile has the address of another one, or none."""
    _delete(work, P.uid == uid)


def delete_of_organization(work: UnitOfWork, org_id: str) -> None:
    """Delete the organization's logo, as `delete_of_account`."""
    _delete(work, P.org_id == org_id)


def _delete(work: UnitOfWork, is_owners: Any) -> None:
    work.run(delete(pictures).where(P.tenant_id == work.tenant_id, is_owners))
