"""The list of a tenant's accounts, for consoles and scripts. The docstrings are published."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, Field

from app.contract import errors
from app.contract.auth import MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_profiles import MANAGE
from app.contract.profile import Profile
from app.kit.operations.wire import From, Wire

MAX_COUNTED: Final = 1_000
"""Matches are counted up to this number."""
LISTED_MEMBERS: Final = (
    "ID", "Uid", "Email", "EmailVerified", "UserName", "PhoneId", "PhoneIdVerified", "FirstName", "LastName", "FullName", "Provider",
    "IsActive", "IsDeleted", "IsLoginLocked", "LoginLockedType", "NoOfLogins", "Roles", "CreatedDate", "LastLoginDate",
)  # fmt: skip
"""The members of a profile that a list has; `accounts.read_by_uid` returns all."""
Sort = Literal["created", "last_login", "email", "name"]
Order = Literal["asc", "desc"]
_EXAMPLE_TIME: Final = "2026-11-29T08:00:00.000Z"
_FROM: Final = "The earliest time, in ISO 8601 with a UTC offset: only accounts that"
_TO: Final = "The time, in ISO 8601 with a UTC offset: only accounts that"
Instant = Annotated[AwareDatetime | None, From.QUERY]


class AccountFilters(Wire):
    """Which accounts to list: those that meet every condition."""

    text: Annotated[str | None, From.QUERY, Field(min_length=1, max_length=100)] = Field(
        default=None,
        description="The beginning of an email address, a username, a phone number, a first, last or full name, in any letter case.",
        examples=["ada"],
    )
    created_from: Instant = Field(
        default=None, description=f"{_FROM} were created then or later.", examples=[_EXAMPLE_TIME]
    )
    created_to: Instant = Field(default=None, description=f"{_TO} were created before.", examples=[_EXAMPLE_TIME])
    last_login_from: Instant = Field(
        default=None, description=f"{_FROM} last signed in then or later.", examples=[_EXAMPLE_TIME]
    )
    last_login_to: Instant = Field(
        default=None,
        description=f"{_TO} last signed in before, or have never signed in.",
        examples=[_EXAMPLE_TIME],
    )
    provider: Annotated[str | None, From.QUERY, Field(min_length=1, max_length=100)] = Field(
        default=None,
        description="The name of a provider: only accounts that have an identity there.",
        examples=["google"],
    )
    verified: Annotated[bool | None, From.QUERY] = Field(
        default=None, description="Whether the primary email address or the phone number is verified.", examples=[True]
    )
    blocked: Annotated[bool | None, From.QUERY] = Field(
        default=None,
        description="Whether only an administrator can let the account sign in again: it is not active, or its lock has the type `Block`.",
        examples=[False],
    )
    role: Annotated[str | None, From.QUERY, Field(min_length=1, max_length=64)] = Field(
        default=None, description="The name of a role, outside contexts.", examples=["support"]
    )
    organization: Annotated[str | None, From.QUERY, Field(min_length=1, max_length=64)] = Field(
        default=None, description="The ID of an organization: only its members.", examples=["org_4f1c2a"]
    )


class ListAccounts(AccountFilters):
    """Which accounts to list, in which order, and which page."""

    sort: Annotated[Sort, From.QUERY] = Field(
        default="created",
        description="Sort by the time of creation or of the last sign-in, the primary email address, or the name.",
        examples=["name"],
    )
    order: Annotated[Order | None, From.QUERY] = Field(
        default=None,
        description="`asc` or `desc`. Without it, times sort from the latest, and texts from A to Z.",
        examples=["asc"],
    )
    limit: Annotated[int, From.QUERY, Field(ge=1, le=100)] = Field(
        default=50, description="The maximum number of accounts on a page.", examples=[50]
    )
    cursor: Annotated[str | None, From.QUERY, Field(max_length=2_000)] = Field(
        default=None,
        description="`NextCursor` of the previous page. The filters, `sort` and `order` must be the same.",
        examples=[None],
    )


class AccountList(Wire):
    """A page of accounts.

    A page may have fewer accounts than `limit`, or none, while `NextCursor` says that there are more.
    """

    omits_none = True

    data: list[Profile] = Field(description=f"The accounts, with the members {', '.join(LISTED_MEMBERS)}.")
    next_cursor: str | None = Field(
        default=None, description="The `cursor` of the next page; absent on the last one.", examples=[None]
    )
    count: int | None = Field(
        default=None,
        description=f"On the first page: how many accounts match, exact up to {MAX_COUNTED:,}.",
        examples=[1],
    )
    count_is_lower_bound: bool | None = Field(
        default=None, description="On the first page: whether more accounts than `Count` may match.", examples=[False]
    )


list_accounts = operation(
    "accounts.list", "GET /v2/manage/accounts", ListAccounts, AccountList, auth=MACHINE_TOKEN, scope="profile:read",
    error_profile=MANAGE, errors=(errors.BadField,),
    summary="List accounts",
    description="Lists and searches the accounts of the tenant. For the next page, send the same parameters with `NextCursor` as "
    "`cursor`: accounts that are created meanwhile don’t shift it.",
)  # fmt: skip
