"""The table of powers of operations that are no resource's: roles, and what gives them; connections (decision 0316)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.identity.platform.powers import GIVES_ROLES
from tests.support.organizations.connections import certificate
from tests.support.organizations.invitations import GUEST, LINKS, InvitingBusiness
from tests.support.organizations.invitations import PATH as INVITATIONS
from tests.support.organizations.management import PATH, PERMISSIONS, ROLES
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import PASSWORD, answered

Make = Callable[[InvitingBusiness], tuple[str, Any]]
"""Prepares a tenant; returns the path of the request and its body."""
ALL = ("all",)
MANAGER = (GIVES_ROLES, "invitation:create", "role:delete")
OWNER = (*MANAGER, "organization:update", "organization:delete")
_ADDRESSES = {"AuthorizationUrl": "https://idp.example/authorize", "TokenUrl": "https://idp.example/token"}
OIDC = {
    "Name": "idp", "ConnectionType": "oidc_custom", "Issuer": "https://idp.example", "ClientId": "client",
    "ClientSecret": "a secret", **_ADDRESSES,
}  # fmt: skip
_SAML = {"Name": "okta", "ConnectionType": "saml_okta", "IDPEntityId": "https://okta.example"}
_ACCOUNT = "/identity/v2/manage/account"
_ROLE = "/identity/v2/manage/role"


@dataclass(frozen=True)
class Write:
    """A request of an operation that writes what has a power, or gives it one."""

    operation: str
    power: str
    needs: tuple[str, ...]
    make: Make
    status: int = 200
    """Of the answer with the power; of a refusal, where it names an item that there is not and that the power does not depend on."""

    def __str__(self) -> str:
        return f"{self.operation}: {self.power}"


def _permission(env: InvitingBusiness, name: str) -> str:
    """Return the id of a permission, which is created once."""
    stored = answered(env.send("GET", PERMISSIONS))["Data"]
    return next((str(item["Id"]) for item in stored if item["Name"] == name), None) or env.permission(name)


def _role(env: InvitingBusiness, *names: str, org: str = "") -> str:
    return env.role(org=org, permissions=tuple(_permission(env, name) for name in names))


def _described(env: InvitingBusiness, *names: str) -> dict[str, Any]:
    return {"Name": "Another", "Description": "", "Permissions": [_permission(env, name) for name in names]}


def _at_member(end: str, *, everywhere: bool = False) -> Make:
    """Return a request about a member who owns the organization beside another owner."""

    def make(env: InvitingBusiness) -> tuple[str, Any]:
        role = _role(env, "org:own")
        env.member(env.org, role)
        uid = env.member(env.org, role)
        body = {"RoleIds": [role]} if end.endswith("roles") else None
        return f"/v2/manage/account/{uid}/orgcontext{'' if everywhere else f'/{env.org}'}{end}", body

    return make


def _assigned(*, everywhere: bool = False) -> Make:
    def make(env: InvitingBusiness) -> tuple[str, Any]:
        uid = env.member(env.org)
        where = "/roles" if everywhere else f"/{env.org}/roles"
        return f"/v2/manage/account/{uid}/orgcontext{where}", {"RoleIds": [_role(env, "org:own")]}

    return make


def _by_default(env: InvitingBusiness) -> None:
    """Let new members of the organization be owners."""
    policy = {"MemberPolicy": {"DefaultMemberRole": _role(env, "org:own")}}
    answered(env.send("PUT", f"{PATH}/{env.org}/policy", policy))


def _default_invitation(env: InvitingBusiness) -> tuple[str, Any]:
    _by_default(env)
    return INVITATIONS, env.body(roleIds=[])


def _invited(end: str, method_body: Any = None) -> Make:
    def make(env: InvitingBusiness) -> tuple[str, Any]:
        made = env.invite(f"{len(env.links)}{env.permission()[-8:]}@example.com", roleIds=[_role(env, "org:own")])
        pass_time(env.tenant.services, minutes=2)  # one mail a minute
        return f"{INVITATIONS}/{made['Id']}{end}", method_body

    return make


def _wider_invitation(env: InvitingBusiness) -> tuple[str, Any]:
    made = env.invite(f"{env.permission()[-8:]}@example.com")
    return f"{INVITATIONS}/{made['Id']}", {"RolesIds": [_role(env, "org:own")]}


def _default_role_invitation(env: InvitingBusiness) -> tuple[str, Any]:
    """Return a request that takes the roles from an invitation: who accepts it gets the role of new members."""
    made = env.invite(f"{env.permission()[-8:]}@example.com")
    _by_default(env)
    return f"{INVITATIONS}/{made['Id']}", {"RolesIds": []}


def _scim(env: InvitingBusiness) -> str:
    """Return the path of a new SCIM connection."""
    made = answered(env.send("POST", "/v2/manage/scim/connections", {"Name": "Entra ID"}))
    return f"/v2/manage/scim/connections/{made['Id']}"


def joined(env: InvitingBusiness) -> None:
    """Let people of the organization's domains join, as owners."""
    _connected("")(env)
    _by_default(env)
    answered(env.send("PUT", f"{PATH}/{env.org}/policy", {"JITPolicy": {"Enabled": True}}))


def _domain(end: str, body: Any = None) -> Make:
    """Return a request about the domains of an organization whose people join it."""

    def make(env: InvitingBusiness) -> tuple[str, Any]:
        joined(env)
        return f"{PATH}/{env.org}{end}", body

    return make


def _at_domain(env: InvitingBusiness) -> tuple[str, Any]:
    """Return the request of an account that joins the organization at its first sign-in."""
    domain = f"{env.permission()[-8:]}.example".lower().replace(":", "x")
    joined(env)
    answered(env.send("PUT", f"{PATH}/{env.org}", {"Domains": [{"DomainName": domain, "IsVerified": True}]}))
    return _ACCOUNT, {
        "Email": [{"Type": "Primary", "Value": f"new@{domain}"}],
        "EmailVerified": True,
        "Password": PASSWORD,
    }


def _of_guest(env: InvitingBusiness) -> tuple[str, Any]:
    """Return the request of an account that can accept an invitation of another person."""
    env.invite(roleIds=[_role(env, "org:own")])
    return _ACCOUNT, {
        "Email": [{"Type": "Primary", "Value": GUEST.upper()}],
        "EmailVerified": True,
        "Password": PASSWORD,
    }


def _jit(env: InvitingBusiness) -> tuple[str, Any]:
    _connected("")(env)
    _by_default(env)
    return f"{PATH}/{env.org}/policy", {"JITPolicy": {"Enabled": True}}


def _linked(env: InvitingBusiness) -> tuple[str, Any]:
    made = env.link(roleIds=[_role(env, "org:manage")])
    return f"{LINKS}/{made['Id']}", None


def _connected(end: str, body: Any = None) -> Make:
    def make(env: InvitingBusiness) -> tuple[str, Any]:
        if not answered(env.send("GET", f"{PATH}/{env.org}/connections"))["Data"]:
            answered(env.send("POST", f"{PATH}/{env.org}/connections", OIDC))
        return f"{PATH}/{env.org}{end}", body

    return make


def _policy(*, before: bool) -> Make:
    def make(env: InvitingBusiness) -> tuple[str, Any]:
        if before:
            _by_default(env)
        role = env.role() if before else _role(env, "org:own")
        return f"{PATH}/{env.org}/policy", {"MemberPolicy": {"DefaultMemberRole": role}}

    return make


def _requested(env: InvitingBusiness) -> tuple[str, Any]:
    _by_default(env)
    return f"{PATH}/{env.org}/joinrequests/join_0/approve", None


def _set_default(*, before: bool) -> Make:
    def make(env: InvitingBusiness) -> tuple[str, Any]:
        if before:
            answered(env.send("PUT", f"{ROLES}/{_role(env, 'org:own')}/default"))
        return f"{ROLES}/{env.role() if before else _role(env, 'org:own')}/default", None

    return make


def _tenant_role(env: InvitingBusiness) -> str:
    """Create a role of the tenant with a permission, and return its name."""
    name = f"cashier{env.permission()[-8:]}"
    answered(env.send("POST", _ROLE, {"roles": [{"name": name, "permissions": {"refund": True}}]}))
    return name


def _of_account(end: str, members: str = "") -> Make:
    """Return a request about an account that has a role of the tenant, also in a context."""

    def make(env: InvitingBusiness) -> tuple[str, Any]:
        role, uid = _tenant_role(env), env.account()
        answered(env.send("PUT", f"{_ACCOUNT}/{uid}/role", {"roles": [role]}))
        context = {"Context": "shop", "Roles": [role], "AdditionalPermissions": ["refund"]}
        answered(env.send("PUT", f"{_ACCOUNT}/{uid}/rolecontext", {"rolecontext": [context]}))
        body = {members: ["refund"] if members == "additionalpermissions" else [role]} if members else None
        return f"{_ACCOUNT}/{uid}/{end}", body

    return make


def _certificate_of_connection(operation: str, end: str, status: int = 200) -> Write:
    """Return an operation on the certificates of a SAML connection."""

    def make(env: InvitingBusiness) -> tuple[str, Any]:
        path = f"{PATH}/{env.org}/connections"
        made = answered(env.send("POST", path, {**_SAML, "IDPCertificate": certificate()}))
        return f"{path}/{made['Id']}/{end}", None

    return Write(f"organization_connections.{operation}", "a connection", ALL, make, status)


def _connection(operation: str, end: str, body: Any = None) -> Write:
    """Return a request about a connection, and about a group role of it where `end` names one."""

    def make(env: InvitingBusiness) -> tuple[str, Any]:
        made = answered(env.send("POST", f"{PATH}/{env.org}/connections", OIDC))
        path = f"{PATH}/{env.org}/connections/{made['Id']}"
        role = {"GroupId": "admins", "Name": "Admins", "RoleId": env.role()}
        if "{group}" in end:
            path += end.format(group=answered(env.send("POST", f"{path}/grouproles", role))["Id"])
        else:
            path += end
        return path, role if "grouproles" in end and body is not None else body

    return Write(f"organization_connections.{operation}", "a connection", ALL, make)


WRITES: tuple[Write, ...] = (
    Write("organization_permissions.create", "org:own", OWNER, lambda env: (PERMISSIONS, {"Name": "org:own"})),
    Write("organization_permissions.create", "ORG:OWN", OWNER, lambda env: (PERMISSIONS, {"Name": "ORG:OWN"})),
    Write("organization_permissions.create", "orders:read", (GIVES_ROLES,), lambda env: (PERMISSIONS, {"Name": "orders:read"})),
    Write("organization_permissions.update", "after", OWNER,
          lambda env: (f"{PERMISSIONS}/{env.permission()}", {"Name": "org:own", "Description": ""})),
    Write("organization_permissions.update", "before", OWNER,
          lambda env: (f"{PERMISSIONS}/{_permission(env, 'org:own')}", {"Name": "orders:x", "Description": ""})),
    Write("organization_permissions.delete", "org:manage", MANAGER, lambda env: (f"{PERMISSIONS}/{_permission(env, 'org:manage')}", None)),
    Write("organization_roles.create", "org:own", OWNER, lambda env: (ROLES, _described(env, "org:own"))),
    Write("organization_roles.create", "orders:read", (GIVES_ROLES,), lambda env: (ROLES, _described(env, "orders:read"))),
    Write("organization_roles.create_of_organization", "org:manage", MANAGER,
          lambda env: (f"{PATH}/{env.org}/roles", _described(env, "org:manage"))),
    Write("organization_roles.update", "after", OWNER, lambda env: (f"{ROLES}/{env.role()}", _described(env, "org:own"))),
    Write("organization_roles.update", "before", OWNER, lambda env: (f"{ROLES}/{_role(env, 'org:own')}", _described(env))),
    Write("organization_roles.update", "of an organization", OWNER,
          lambda env: (f"{ROLES}/{_role(env, 'org:own', org=env.org)}", _described(env, "org:own"))),
    Write("organization_roles.delete", "org:own", OWNER, lambda env: (f"{ROLES}/{_role(env, 'org:own')}", None)),
    Write("organization_roles.set_default", "after", OWNER, _set_default(before=False)),
    Write("organization_roles.set_default", "before", OWNER, _set_default(before=True)),
    Write("organization_members.assign", "org:own", OWNER, _assigned()),
    Write("organization_members.assign_everywhere", "org:own", OWNER, _assigned(everywhere=True)),
    Write("organization_members.unassign", "org:own", OWNER, _at_member("/roles")),
    Write("organization_members.leave", "org:own", OWNER, _at_member("")),
    Write("organization_members.leave_all", "org:own", OWNER, _at_member("", everywhere=True)),
    Write("organization_join_requests.approve", "the role of new members", OWNER, _requested, status=404),
    Write("organization_invitations.create", "org:own", OWNER, lambda env: (INVITATIONS, env.body(roleIds=[_role(env, "org:own")]))),
    Write("organization_invitations.create", "the role of new members", OWNER, _default_invitation),
    Write("organization_invitations.create_many", "org:manage", MANAGER, lambda env: (
        f"{INVITATIONS}/bulk",
        {"invitations": [{"email": "b@example.com", "roleIds": [_role(env, "org:manage")]}], "orgId": env.org, "inviterUid": env.grace},
    )),
    Write("organization_invitations.update", "after", OWNER, _wider_invitation),
    Write("organization_invitations.update", "the role of new members", OWNER, _default_role_invitation),
    Write("organization_invitations.update", "before", OWNER, _invited("", {"ResendEmail": True})),
    Write("organization_invitations.resend", "org:own", OWNER, _invited("/resend")),
    Write("organization_invitations.revoke", "org:own", OWNER, _invited("")),
    Write("organization_invitation_links.create", "org:manage", MANAGER, lambda env: (
        LINKS, {"roleIds": [_role(env, "org:manage")], "orgId": env.org, "inviterUid": env.grace},
    )),
    Write("organization_invitation_links.revoke", "org:manage", MANAGER, _linked),
    Write("organization_connections.create", "a connection", ALL, lambda env: (f"{PATH}/{env.org}/connections", OIDC)),
    Write("organization_setup_links.create", "a connection", ALL, lambda env: (f"{PATH}/{env.org}/setup-links", {})),
    Write("scim_connections.create", "a connection", ALL, lambda env: ("/v2/manage/scim/connections", {"Name": "x"})),
    Write("scim_connections.update", "a connection", ALL, lambda env: (_scim(env), {"Paused": False})),
    Write("scim_connections.delete", "a connection", ALL, lambda env: (_scim(env), None)),
    Write("scim_tokens.create", "a connection", ALL, lambda env: (f"{_scim(env)}/tokens", {})),
    _connection("update", "", {"Issuer": "https://evil.example", **_ADDRESSES}),
    _connection("delete", ""),
    _connection("set_status", "/status", {"Active": False}),
    _certificate_of_connection("renew_certificate", "renew-certificate"),
    _certificate_of_connection("create_next_certificate", "next-certificate"),
    _certificate_of_connection("activate_certificate", "activate-certificate", status=400),
    _certificate_of_connection("delete_next_certificate", "next-certificate"),
    _certificate_of_connection("delete_former_certificate", "former-certificate"),
    _connection("create_group_role", "/grouproles", {}),
    _connection("update_group_role", "/grouproles/{group}", {}),
    _connection("delete_group_role", "/grouproles/{group}"),
    Write("organizations.delete", "a connection", ALL, _connected("")),
    Write("organizations.set_status", "a connection", ALL, _connected("/status", {"Active": False})),
    Write("organizations.set_policies", "after", OWNER, _policy(before=False)),
    Write("organizations.set_policies", "before", OWNER, _policy(before=True)),
    Write("accounts.create", "the role of those who join", OWNER, _at_domain),
    Write("accounts.create", "the roles of an invitation", OWNER, _of_guest),
    Write("organizations.set_policies", "the role of those who join", OWNER, _jit),
    Write("organizations.update", "the role of those who join", OWNER,
          _domain("", {"Domains": [{"DomainName": "evil.example", "IsVerified": True}]})),
    Write("organization_domains.create", "the role of those who join", OWNER, _domain("/domains", {"DomainName": "evil.example"})),
    Write("organization_domains.verify", "the role of those who join", OWNER, _domain(f"/domains/org_domain_{'0' * 16}"), status=400),
    Write("roles.create", "permissions", (GIVES_ROLES,), lambda env: (
        _ROLE, {"roles": [{"name": "cashier", "permissions": {"refund": True}}]},
    )),
    Write("roles.delete", "permissions", (GIVES_ROLES,), lambda env: (f"{_ROLE}/{_tenant_role(env)}", None)),
    Write("roles.remove_permissions", "permissions", (GIVES_ROLES,),
          lambda env: (f"{_ROLE}/{_tenant_role(env)}/permission", {"permissions": ["refund"]})),
    Write("roles.unassign", "permissions", (GIVES_ROLES,), _of_account("role", "roles")),
    Write("roles.remove_context", "permissions", (GIVES_ROLES,), _of_account("rolecontext/shop")),
    Write("roles.remove_context_roles", "permissions", (GIVES_ROLES,), _of_account("rolecontext/shop/role", "roles")),
    Write("roles.remove_context_permissions", "permissions", (GIVES_ROLES,),
          _of_account("rolecontext/shop/additionalpermission", "additionalpermissions")),
)  # fmt: skip
"""Every operation beside those of resources that writes what has a power."""

_PERSON = (
    "an account is what its scope writes: `profile:update` sets passwords, and so signs in as anyone but a program"
)
WITHOUT: dict[str, str] = {
    "ldap_providers.test": "needs all itself",
    "organization_setup_links.revoke": "only takes a link away",
    "scim_tokens.revoke": "only takes a token away",
    "tokens.impersonate": "needs all itself",
    "tokens.refresh": "needs all itself",
    "tokens.revoke_refresh": "ends tokens",
    "tokens.revoke_refresh_of_account": "ends tokens",
    "registration.sott": "its scope is the power",
    "registration.add_records": "choices of the form",
    "registration.change_record": "choices of the form",
    "registration.remove_record": "choices of the form",
    "registration.remove_type": "choices of the form",
    "custom_objects.managed_add": "data of an account",
    "themes.save_draft": "a look",
    "themes.publish_version": "a look",
    "themes.cancel_publication": "a look",
    "themes.roll_back": "a look",
    "themes.open_editor": "a look",
    "themes.put_file": "a look",
    "themes.delete_file": "a look",
    "custom_objects.managed_change": "data of an account",
    "custom_objects.managed_remove": "data of an account",
    "webhooks.resume": "needs profile:read itself",
    "webhooks.test": "sends a ping, which shows no profile",
    "webhooks.replay_delivery": "sends to the target of a webhook, whose writer had the power",
    "webhooks.replay_deliveries": "sends to the target of a webhook, whose writer had the power",
    "organizations.create": "its connections, roles and policies come by operations of their own",
    "organization_domains.delete": "refused while a connection uses it",
    "organization_join_requests.decline": "gives nothing",
    "roles.assign": "its scope is the power",
    "roles.change_contexts": "its scope is the power",
    "roles.add_permissions": "its scope is the power",
    **dict.fromkeys(
        (
            "accounts.delete_by_identifier", "accounts.delete_by_uid", "accounts.change_uid",
            "accounts.invalidate_email", "accounts.invalidate_phone", "accounts.remove_email", "accounts.set_emails",
            "accounts.set_phone", "accounts.update", "accounts.update_by_identifier", "generated_tokens.mail_token",
            "generated_tokens.read_verify_token", "generated_tokens.sms_code", "generated_tokens.verify_token",
            "passkeys.managed_remove", "passwords.forgot_token", "passwords.set", "second_factors.managed_make_backup_codes",
            "second_factors.managed_remove_duo", "second_factors.managed_remove_email", "second_factors.managed_remove_older",
            "second_factors.managed_remove_passkey", "second_factors.managed_remove_push",
            "second_factors.managed_remove_push_older", "second_factors.managed_remove_questions",
            "second_factors.managed_remove_sms", "second_factors.managed_remove_totp",
            "second_factors.managed_renew_backup_codes",
        ),
        _PERSON,
    ),
}  # fmt: skip
"""Every other operation of programs with a writing scope, with the reason."""
