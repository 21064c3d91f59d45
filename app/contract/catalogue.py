"""The catalogue of all operations: declares them and loads them."""

import importlib
import pkgutil
from dataclasses import replace
from typing import Final, TypeVar

from app import contract
from app.contract import error_profiles
from app.contract.auth import API_SECRET, HUB, SENSITIVE, AuthScheme, Host
from app.contract.error_groups import REAUTHENTICATION
from app.contract.errors import NotAuthenticated
from app.contract.paging import Paged
from app.kit.operations.auth import OPEN, Access, Admission, Auth, Cors
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import (
    MAX_BODY_BYTES,
    Accept,
    BodyRules,
    Catalogue,
    Documentation,
    ErrorProfile,
    HeavyWork,
    Operation,
)
from app.kit.operations.partial_update import described
from app.kit.operations.wire import Document, Wire

CATALOGUE = Catalogue()
ACCOUNTS = "/identity/v2/manage/account"

SECRETS: Final = ("password", "pin", "answer")
"""Names of parameters that are hashed like passwords: PINs and security answers."""
HASHES: Final = HeavyWork("sign-in")
"""An operation that may compute a password hash declares it as `heavy_work=`, and its requests queue (decision 0152).

Without the declaration it works while the CPU is free, logs `hashing.undeclared`, and is refused with 503 if it would have to
wait; in tests it fails.
"""
HASHES_SECRETS: Final = HeavyWork("sign-in", SECRETS)
"""Only if the request contains a password, a PIN or an answer, or its visit a password."""
HASHES_IN_BULK: Final = HeavyWork("bulk")
HASHES_SECRETS_IN_BULK: Final = HeavyWork("bulk", SECRETS)
WHOLE_LIST: Final = HeavyWork("list", unless=("page", "pagesize"))
"""A list that is complete without `page`: with thousands of items it costs as much as a few hashes, so it counts against the
tenant's share."""

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound="Wire | Document")


def taken_uids() -> frozenset[str]:
    """Return the fixed path segments beside `{uid}`, in lower case: no account may have one as its id."""
    paths = [path for declared in CATALOGUE for _, path in declared.addresses()]
    below = (path.removeprefix(f"{ACCOUNTS}/") for path in paths if path.startswith(f"{ACCOUNTS}/"))
    return frozenset(rest.partition("/")[0].lower() for rest in below if not rest.startswith("{"))


def operation(
    name: str,
    address: str,
    request: type[Req],
    response: type[Res],
    *,
    summary: str,
    description: str = "",
    row: str = "",
    auth: Auth = OPEN,
    scope: str = "",
    access: Access | None = None,
    takes_secret: bool = False,
    cors: Cors = Cors.NONE,
    error_profile: ErrorProfile = error_profiles.MAIN,
    errors: tuple[type[ApiError], ...] = (),
    on: Host = Host.API,
    also: tuple[str, ...] = (),
    when: tuple[str, ...] = (),
    accepts: Accept = Accept.JSON_OR_FORM,
    answers: tuple[str, ...] = ("application/json",),
    takes_markup: bool = False,
    no_object: type[ApiError] | None = None,
    max_body_bytes: int = MAX_BODY_BYTES,
    heavy_work: HeavyWork | None = None,
    takes_blank_segments: bool = False,
    is_cached: bool = False,
    visits: bool = False,
    catalogue: Catalogue = CATALOGUE,
) -> Operation[Req, Res]:
    """Declare an operation and add it to the catalogue; the parameters are described at the groups of `Operation`.

    `address` is "METHOD /path". An operation for the tenant's servers has `auth=API_KEY & API_SECRET | MACHINE_TOKEN` and a
    `scope`. An operation that takes an account's access token, as a credential or as a parameter, declares in `access` what a
    token of an application needs. `takes_secret`: the API secret is optional. `visits`: the hub calls it, too, for the
    signed-in person of a visit (`for_visits`).
    """
    method, _, path = address.partition(" ")
    if issubclass(request, Paged) and not request.has_default:
        heavy_work = WHOLE_LIST
    declared = Operation(
        name, method, path, request, response, on, error_profile, also, when, errors,
        Admission(auth, API_SECRET if takes_secret else None, scope, access, cors),
        BodyRules(accepts, answers, takes_markup, no_object, max_body_bytes),
        Documentation(summary, described(request, description), row), heavy_work, takes_blank_segments, is_cached,
    )  # fmt: skip
    return _added(catalogue, declared, visits=visits)


def _added(catalogue: Catalogue, declared: Operation[Req, Res], *, visits: bool) -> Operation[Req, Res]:
    catalogue.add(declared)
    if visits:
        catalogue.add(_of_visits(declared))
    return declared


def _of_visits(declared: Operation[Req, Res]) -> Operation[Req, Res]:
    """Return the operation's variant for the hub: at an internal address, with the visit as its only caller. Raises ValueError for
    an operation that a program may call without an access token: a visit replaces only that token.
    """
    admission = declared.admission
    needs_token = all(AuthScheme.ACCESS_TOKEN in schemes for schemes in admission.auth.alternatives)
    if admission.access is None or not admission.auth.alternatives or not needs_token:
        raise ValueError(f"{declared.name} takes no visits: it needs no access token")
    is_sensitive = admission.access.may_need_reauthentication
    visit_operation = replace(
        declared, name=f"hub.{declared.name}", path=f"/hub{declared.path}", also=(), host=Host.INSIDE, error_profile=error_profiles.HUB,
        errors=(*declared.errors, *(REAUTHENTICATION if is_sensitive else (NotAuthenticated,))),
        admission=Admission(HUB, visitor=admission.access),
        documentation=Documentation(declared.documentation.summary, is_public=False),
        heavy_work=declared.heavy_work or (HASHES_SECRETS if is_sensitive else None),
    )  # fmt: skip
    visit_operation.share_handler(declared)
    return visit_operation


def for_visits(declared: Operation[Req, Res]) -> Operation[Req, Res]:
    """Return a public operation's variant for the hub; raises KeyError if it is not declared with `visits`."""
    return CATALOGUE[f"hub.{declared.name}"]


def hub_operation(
    name: str,
    address: str,
    request: type[Req],
    response: type[Res],
    *,
    summary: str,
    errors: tuple[type[ApiError], ...] = (),
    heavy_work: HeavyWork | None = None,
    reauthentication: bool = False,
    spans_tenants: bool = False,
    max_body_bytes: int = MAX_BODY_BYTES,
) -> Operation[Req, Res]:
    """Declare an operation that only the hub calls; it has no public host and is not published.

    `reauthentication`: the person of the visit must have authenticated recently, or sends the password with the visit.
    """
    method, _, path = address.partition(" ")
    if reauthentication:
        heavy_work, errors = HASHES_SECRETS, (*errors, *REAUTHENTICATION)
    declared = Operation(
        name, method, path, request, response, Host.INSIDE, error_profiles.HUB, errors=errors,
        body=BodyRules(max_bytes=max_body_bytes),
        admission=Admission(HUB, visitor=SENSITIVE if reauthentication else None, spans_tenants=spans_tenants),
        documentation=Documentation(summary, is_public=False), heavy_work=heavy_work,
    )  # fmt: skip
    CATALOGUE.add(declared)
    return declared


def load_catalogue() -> Catalogue:
    """Return the catalogue with every operation: each module declares its own when it is imported."""
    for module in pkgutil.walk_packages(contract.__path__, f"{contract.__name__}."):
        importlib.import_module(module.name)
    return CATALOGUE
