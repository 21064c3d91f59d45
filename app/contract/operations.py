"""Declares operations into the one catalogue."""

from typing import Any, TypeVar

from app.contract.error_profiles import MAIN
from app.contract.hashing import HASHING
from app.kit.errors import ApiError
from app.kit.operation import OPEN, Accept, Access, Auth, AuthScheme, Catalogue, ErrorProfile, Host, Operation
from app.kit.wire import Document, Wire

CATALOGUE = Catalogue()
ACCOUNTS = "/identity/v2/manage/account"
RESERVED_PATHS = (f"{ACCOUNTS}/uid", f"{ACCOUNTS}/rolecontext")
"""Addresses of operations that are not there yet, where a parameter would take their segment (interface account.md rows A13, A45)."""

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound="Wire | Document")


def taken_uids() -> frozenset[str]:
    """Return the words that stand where an account's id would, in lower case: no account may be called so."""
    paths = [path for declared in CATALOGUE for _, path in declared.addresses()]
    below = (path.removeprefix(f"{ACCOUNTS}/") for path in (*paths, *RESERVED_PATHS) if path.startswith(f"{ACCOUNTS}/"))
    return frozenset(rest.partition("/")[0].lower() for rest in below if not rest.startswith("{"))


def operation(
    name: str,
    address: str,
    request: type[Req],
    response: type[Res],
    *,
    auth: Auth = OPEN,
    error_profile: ErrorProfile = MAIN,
    also: tuple[str, ...] = (),
    when: tuple[str, ...] = (),
    on: Host | None = None,
    accepts: Accept = Accept.JSON_OR_FORM,
    errors: tuple[type[ApiError], ...] = (),
    no_object: type[ApiError] | None = None,
    summary: str,
    row: str = "",
    scope: str = "",
    access: Access | None = None,
    public: bool = True,
    cors: bool = False,
    takes_markup: bool = False,
    takes_secret: bool = False,
    answers: tuple[str, ...] = ("application/json",),
) -> Operation[Req, Res]:
    """Declare an operation and add it to the catalogue: `address` is "METHOD /path", `row` its row in the interface's tables.

    The default host is INSIDE for operations that the hub calls, API for all others. An operation for the tenant's servers has
    `auth=K & S | M` and the `scope` of tenant-config.md section 1. One that takes an account's access token, as a credential or
    as a parameter, declares in `access` what a token of an application needs.
    """
    method, _, path = address.partition(" ")
    on = on or (Host.INSIDE if AuthScheme.HUB in auth.schemes() else Host.API)
    asked: dict[str, Any] = {"also": also, "when": when, "on": on, "accepts": accepts, "errors": errors}
    published: dict[str, Any] = {"summary": summary, "row": row, "public": public, "cors": cors, "answers": answers}
    special: dict[str, Any] = {"scope": scope, "takes_markup": takes_markup, "no_object": no_object, "access": access}
    special |= {"takes_secret": takes_secret, "hashing": HASHING.get(name)}
    declared = Operation(name, method, path, request, response, auth, error_profile, **asked, **published, **special)
    CATALOGUE.add(declared)
    return declared
