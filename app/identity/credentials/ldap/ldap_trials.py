"""Tries an LDAP provider step by step, and says which one failed."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.contract.federation.connection_checks import DIAGNOSES, ConnectionCheck
from app.contract.ldap.ldap_operations import LdapTested
from app.identity.credentials.ldap import ldap_people
from app.identity.credentials.ldap.ldap_directories import DirectoryLogin, LdapDirectory
from app.identity.credentials.ldap.ldap_people import LdapPerson
from app.identity.platform.context import Context
from app.identity.platform.ldap.ldap_refusals import LdapUnavailable, PasswordProblem, PasswordRefused
from app.identity.platform.outbound.findings import UpstreamRefusal

_REFUSED = {
    PasswordProblem.WRONG: "the directory refuses the password",
    PasswordProblem.DISABLED: "the directory lets the person not sign in",
    PasswordProblem.EXPIRED: "the directory demands a new password first",
}


@dataclass
class _Trial:
    """How far a trial came."""

    passed: list[str] = field(default_factory=list)
    person: LdapPerson | None = None
    refusal: UpstreamRefusal | None = None


def run(context: Context, directory: LdapDirectory, login: str, password: str | None) -> LdapTested:
    """Return what a sign-in with this login would make, or which step failed. Stores nothing."""
    trial = _Trial()
    try:
        _try(context, trial, DirectoryLogin(directory, login), password)
    except LdapUnavailable as refusal:
        trial.refusal = refusal
    except PasswordRefused as refusal:
        received = f"{_REFUSED[refusal.problem]}: {refusal.detail}"
        expected = "a bind as the person that succeeds"
        trial.refusal = LdapUnavailable(
            received, check=ConnectionCheck.LDAP_PASSWORD, expected=expected, received=received
        )
    if trial.refusal is not None:
        trial.refusal.hide(text for text in (directory.bind_password, password) if text)
    return _answer(directory, trial)


def _try(context: Context, trial: _Trial, request: DirectoryLogin, password: str | None) -> None:
    with ldap_people.conversation(context, request.directory) as connection:
        trial.passed += ["connection", "bind"]
        trial.person = ldap_people.find(connection, request)
        if trial.person is None:
            raise LdapUnavailable(
                "nobody has this login",
                check=ConnectionCheck.LDAP_SEARCH,
                expected=f"one entry below {request.directory.provider.base_dn}",
                received="no entry",
            )
        trial.passed.append("search")
        trial.person = ldap_people.with_groups(connection, request.directory, trial.person)
        trial.passed.append("groups")
        if password is not None:
            connection.check_password(trial.person.entry.dn, password)
        if trial.person.entry.is_disabled:
            raise PasswordRefused(PasswordProblem.DISABLED, "its attributes say so")
        trial.passed += ["password"] if password is not None else []


def _answer(directory: LdapDirectory, trial: _Trial) -> LdapTested:
    person, finding = trial.person, trial.refusal.finding if trial.refusal is not None else None
    diagnosis = DIAGNOSES[ConnectionCheck(finding.check)] if finding is not None else None
    identity = person.identity if person is not None else None
    filled = ldap_people.mapped(directory.provider, person.entry) if person is not None else {}
    groups = (identity.groups or ()) if identity is not None else ()
    return LdapTested(
        is_successful=finding is None,
        passed=trial.passed,
        check=finding.check.value if finding else None,
        problem=diagnosis.problem if diagnosis else None,
        expected=finding.expected if finding else None,
        received=finding.received if finding else None,
        advice=diagnosis.advice if diagnosis else None,
        dn=person.entry.dn if person else None,
        ID=identity.subject if identity else None,
        email=identity.email if identity else None,
        email_verified=bool(identity and identity.email_verified),
        profile=dict(identity.profile) if identity else {},
        missing=[name for name in directory.provider.data_map if name not in filled] if person else [],
        groups=list(groups),
        roles=sorted(ldap_people.roles_of(directory.provider, groups)),
    )
