"""Where operations are stated into the one catalogue."""

from typing import Any, TypeVar

from app.contract.families import MAIN
from app.contract.hashing import HASHING
from app.kit.errors import ApiError
from app.kit.operation import OPEN, Accept, Access, Auth, Catalogue, Family, Host, Letter, Operation
from app.kit.wire import Document, Wire

CATALOGUE = Catalogue()
ACCOUNTS = "/identity/v2/manage/account"
RESERVED_PATHS = (f"{ACCOUNTS}/uid", f"{ACCOUNTS}/rolecontext")
"""Addresses of operations that are not there yet, where a parameter would take their segment (interface account.md rows A13, A45)."""

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound="Wire | Document")


def taken_uids() -> frozenset[str]:
    """Return the words that stand where an account's id would, in lower case: no account may be called so."""
    paths = [path for operation in CATALOGUE for _, path in operation.addresses()]
    below = (path.removeprefix(f"{ACCOUNTS}/") for path in (*paths, *RESERVED_PATHS) if path.startswith(f"{ACCOUNTS}/"))
    return frozenset(rest.partition("/")[0].lower() for rest in below if not rest.startswith("{"))


def state(
    name: str,
    address: str,
    request: type[Req],
    response: type[Res],
    *,
    auth: Auth = OPEN,
    family: Family = MAIN,
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
    """State one row of the interface: `address` is "METHOD /path", `row` the id of the table's row.

    What the hub calls is served inside alone, everything else at the API host unless stated otherwise.
    An operation of the tenant's servers is `auth=K & S | M` and names the `scope` of tenant-config.md section 1. One that takes
    an account's access token, as the caller's or as a parameter, says by `access` what an application's token needs.
    """
    method, _, path = address.partition(" ")
    on = on or (Host.INSIDE if Letter.H in auth.letters() else Host.API)
    asked: dict[str, Any] = {"also": also, "when": when, "on": on, "accepts": accepts, "errors": errors}
    published: dict[str, Any] = {"summary": summary, "row": row, "public": public, "cors": cors, "answers": answers}
    special: dict[str, Any] = {"scope": scope, "takes_markup": takes_markup, "no_object": no_object, "access": access}
    special |= {"takes_secret": takes_secret, "hashing": HASHING.get(name)}
    operation = Operation(name, method, path, request, response, auth, family, **asked, **published, **special)
    CATALOGUE.add(operation)
    return operation
