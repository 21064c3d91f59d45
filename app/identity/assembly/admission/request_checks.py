"""Checks requests before their handler, by one table for every operation and every caller (decision 0369).

A rule sees what an operation declares, once for each operation, and returns the checks of its requests. The modules that
authenticate programs, clients and persons are loaded by the first operation that takes them: a first page needs none of them.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from app.contract.auth import AuthScheme
from app.identity.platform.context import Context
from app.kit.operations.operation import AnyOperation

ProgramCheck = Callable[[Context], None]
"""Runs before the body is read; raises the refusal."""
CallerCheck = Callable[[Context, dict[str, Any]], None]
"""Takes the body's members, which may hold the credentials; raises the refusal."""


def program(operation: AnyOperation) -> Sequence[ProgramCheck]:
    """Return the checks of the tenant's own servers and machines, with required or optional credentials."""
    schemes = operation.admission.auth.schemes()
    takes_programs = not schemes.isdisjoint(_OF_PROGRAMS) or operation.admission.optional is not None
    if not takes_programs:
        return ()
    from app.identity.assembly.admission.program_credentials import Programs

    return (Programs(operation).admit,)


def client(operation: AnyOperation) -> Sequence[CallerCheck]:
    """Return the checks of an OAuth client."""
    if AuthScheme.CLIENT not in operation.admission.auth.schemes():
        return ()
    from app.identity.assembly.admission import caller_authentication

    return (caller_authentication.admit_client,)


def person(operation: AnyOperation) -> Sequence[CallerCheck]:
    """Return the checks of an access token and its account."""
    if AuthScheme.ACCESS_TOKEN not in operation.admission.auth.schemes():
        return ()
    from app.identity.assembly.admission import caller_authentication

    return (caller_authentication.person_check(operation),)


def visitor(operation: AnyOperation) -> Sequence[CallerCheck]:
    """Return the checks of a visit's session and its account, if the hub calls an operation of programs."""
    if operation.admission.visitor is None:
        return ()
    from app.identity.assembly.admission import visitors

    return (visitors.visitor_check(operation, operation.admission.visitor),)


_OF_PROGRAMS: Final = frozenset({AuthScheme.MACHINE_TOKEN, AuthScheme.QUERY_CLIENT_SECRET, AuthScheme.API_SECRET})
BEFORE_BODY: tuple[Callable[[AnyOperation], Sequence[ProgramCheck]], ...] = (program,)
WITH_BODY: tuple[Callable[[AnyOperation], Sequence[CallerCheck]], ...] = (client, person, visitor)
