"""The chapters of the published API reference: the tag of each area, in the order in which integrators need them."""

from __future__ import annotations

from typing import Final

from app.kit.openapi.publication import Chapter, ChapterGroup

ACCOUNT: Final = ("/identity/v2/auth/account/",)
MANAGED: Final = ("/identity/v2/manage/",)
USER: Final = ("/identity/v2/auth/", "/api/v2/")

SIGN_IN: Final = ChapterGroup(
    "Sign people in",
    (
        Chapter(
            "Sign-up",
            "Create accounts with an email address, phone number or username. A secured one-time token (SOTT) or a captcha keeps bots out.",
            ("registration",),
            ("/identity/v2/auth/",),
        ),
        Chapter(
            "Sign-in",
            "Sign in with a password. The response is a session: access token, refresh token and profile.",
            ("sign_in",),
        ),
        Chapter(
            "Verification",
            "Verify email addresses and phone numbers with links and codes, and check whether an identifier is still free.",
            ("verification", "phones"),
        ),
        Chapter(
            "Passwordless sign-in",
            "Sign in with a link or a code by email or text message: magic links, smart login across devices and one-touch login.",
            ("passwordless", "smart_login"),
        ),
        Chapter(
            "Passkeys",
            "Sign up and sign in with WebAuthn passkeys, and manage the passkeys of an account. Each ceremony has a begin and a finish "
            "operation; pass what `begin` answers to the browser’s `navigator.credentials`, and send its result to `finish`.",
            ("passkeys",),
        ),
        Chapter(
            "Two-step sign-in",
            "Sign in with a password and a second factor. A challenge lists the factors of the account; its "
            "`SecondFactorAuthenticationToken` goes into the operation that answers it.",
            ("second_factors",),
            ("/identity/v2/auth/login/", "/identity/v2/auth/qr-code", "/identity/v2/auth/push/"),
        ),
        Chapter(
            "PIN",
            "Let people sign in again on the same device with a short PIN, and reset a forgotten PIN.",
            ("pins",),
        ),
        Chapter(
            "Social sign-in",
            "Sign in with Google, Apple, Facebook and other providers, and connect their identities to an account.",
            ("native_sign_in", "linking"),
        ),
        Chapter(
            "Cross-device sign-in",
            "Sign in on a screen by scanning a QR code with a signed-in phone.",
            ("cross_device",),
        ),
    ),
    "Create accounts and sign people in from pages of your own.",
)

OAUTH: Final = ChapterGroup(
    "OAuth 2.0 and OpenID Connect",
    (
        Chapter(
            "Authorization",
            "Start an authorization: pushed authorization requests (RFC 9126) and the device flow (RFC 8628). Browsers start at "
            "`/service/oidc/authorize` of the tenant’s host.",
            ("oauth_authorization",),
        ),
        Chapter(
            "Tokens",
            "Exchange grants for tokens, introspect and revoke them, and get machine tokens for the management operations.",
            ("oauth_tokens",),
        ),
        Chapter(
            "Discovery and userinfo",
            "The provider’s metadata, the keys that verify its tokens, and the claims of a signed-in user.",
            ("oauth_metadata",),
        ),
        Chapter(
            "Client registration",
            "Let applications register themselves (RFC 7591) and manage their registration (RFC 7592).",
            ("oauth_registration",),
        ),
        Chapter(
            "JWT sign-on",
            "Sign in and get a signed JWT for an application that doesn’t speak OpenID Connect.",
            ("jwt_sign_on",),
        ),
        Chapter(
            "SAML sign-on",
            "The metadata with which a service provider is set up. Browsers do the rest.",
            ("saml_sign_on",),
        ),
        Chapter(
            "Older OAuth addresses",
            "OAuth 2.0 and OpenID Connect at addresses that existing clients still call. Use the other chapters for new clients.",
            ("oauth_older",),
        ),
    ),
    "Let apps and APIs rely on the sign-in, by the open standards.",
)

OWN_ACCOUNT: Final = ChapterGroup(
    "The signed-in account",
    (
        Chapter(
            "Account",
            "What signed-in users do with their own account: profile, username, email addresses, privacy notice and deletion.",
            ("accounts", "self_service"),
            ("/identity/v2/auth/",),
        ),
        Chapter(
            "Passwords",
            "Reset a forgotten password by email, text message or security question, and change a known one.",
            ("passwords",),
            ("/identity/v2/auth/",),
        ),
        Chapter(
            "Second factors",
            "Set up and remove the second factors of the signed-in account: authenticator app, text message, email, passkey, push, Duo, "
            "security questions and backup codes.",
            ("second_factors",),
            ACCOUNT,
        ),
        Chapter(
            "Step-up",
            "Confirm who is signed in before a sensitive action. The response is a validation token, which your server checks.",
            ("step_up",),
        ),
        Chapter(
            "Sessions",
            "Check, extend and revoke access tokens, and exchange codes and refresh tokens for new ones.",
            ("tokens",),
            ("/identity/v2/auth/", "/api/v2/"),
        ),
        Chapter("Consents", "Answer consent forms, change the answers and read their history.", ("consents",), USER),
        Chapter(
            "Custom objects",
            "Records that your application stores with the signed-in account.",
            ("custom_objects",),
            USER,
        ),
    ),
    "What people change about their own account, with their access token.",
)

MANAGE: Final = ChapterGroup(
    "Manage accounts",
    (
        Chapter(
            "Accounts",
            "Create, read, update and delete accounts from your server, with the API secret or a machine token. List and search them with "
            "a machine token.",
            ("accounts", "self_service"),
            (*MANAGED, "/v2/manage/accounts"),
        ),
        Chapter(
            "Account passwords",
            "Read and set passwords from your server, and create the token of a reset link.",
            ("passwords",),
            MANAGED,
        ),
        Chapter(
            "Account sessions",
            "Get tokens for an account without its password, refresh them and revoke them.",
            ("tokens",),
            MANAGED,
        ),
        Chapter(
            "Account second factors",
            "Read and remove the second factors of an account, for example after a lost phone.",
            ("second_factors",),
            MANAGED,
        ),
        Chapter(
            "Verification tokens",
            "Create the tokens and codes that Gatehouse would send, to deliver them in your own messages.",
            ("generated_tokens",),
        ),
        Chapter(
            "Roles",
            "Roles with permissions, and role contexts: roles that apply in one part of your application only.",
            ("roles",),
        ),
        Chapter("Account custom objects", "Records of any account, from your server.", ("custom_objects",), MANAGED),
        Chapter("Account consents", "The consent history of any account.", ("consents",), MANAGED),
    ),
    "Find, change and delete accounts from your server, with the API secret.",
)

ORGANIZATIONS: Final = ChapterGroup(
    "Organizations",
    (
        Chapter(
            "Organizations",
            "Your business customers: each has members, roles, domains, connections and policies of its own.",
            ("organizations",),
        ),
        Chapter(
            "Members",
            "Who belongs to an organization, and with which roles.",
            ("organization_members",),
        ),
        Chapter(
            "Organization roles",
            "Roles of the tenant or of one organization, and the permissions they grant.",
            ("organization_roles", "organization_permissions"),
        ),
        Chapter(
            "Invitations",
            "Invite people by email or with a link that several people can use.",
            ("organization_invitations", "organization_invitation_links"),
        ),
        Chapter(
            "Join requests",
            "Requests of people with a matching email domain to join an organization.",
            ("organization_join_requests",),
        ),
        Chapter("Domains", "Email domains of an organization, verified by a DNS record.", ("organization_domains",)),
        Chapter(
            "Connections",
            "Single sign-on of an organization with its identity provider, by SAML or OpenID Connect.",
            ("organization_connections", "organization_setup_links"),
        ),
        Chapter(
            "SCIM",
            "Identity providers create, change and deactivate people, and your servers see what they requested.",
            ("scim", "scim_connections", "scim_tokens"),
        ),
    ),
    "The companies among your customers, with members, roles and domains.",
)

CONFIGURATION: Final = ChapterGroup(
    "Configuration",
    (
        Chapter(
            "Client configuration",
            "The public settings that a sign-in page needs, and the server’s time.",
            ("tenants",),
        ),
        Chapter(
            "OAuth clients",
            "The applications that people sign in to, and initial access tokens for those that register themselves.",
            ("oauth_clients", "initial_access_tokens"),
        ),
        Chapter(
            "SAML and JWT clients",
            "Applications that get SAML assertions or signed JWTs.",
            ("saml_clients", "jwt_clients"),
        ),
        Chapter(
            "Identity providers",
            "Where people sign in with an account they have already: social providers, and your own by OAuth, SAML, JWT or LDAP.",
            ("social_providers", "oauth_providers", "saml_providers", "jwt_providers", "ldap_providers", "mappings", "connection_traces"),
        ),
        Chapter(
            "Sign-up form",
            "The fields of the sign-up form, custom fields, the choices of drop-down fields and secured one-time tokens (SOTT).",
            ("registration_schema", "custom_fields", "registration", "sotts"),
        ),
        Chapter(
            "Custom object types",
            "The types of records that your application stores with accounts.",
            ("custom_object_types",),
        ),
        Chapter(
            "Security settings",
            "Passwords, sessions, passkeys, lockout, captcha, and which addresses, domains and IPs are allowed.",
            ("security_settings", "access_settings", "captcha_settings"),
        ),
        Chapter(
            "Second factor settings",
            "Which second factors are available, their settings, and the security questions to choose from.",
            ("second_factor_settings", "security_questions"),
        ),
        Chapter(
            "Message templates", "Replace the built-in texts of emails and text messages.", ("message_templates",)
        ),
        Chapter("Consent forms", "Write consent forms as drafts, publish new versions and disable them.", ("consent_forms",)),
        Chapter(
            "Webhooks",
            "Send the events of accounts to your servers. Existing integrations subscribe at the older addresses.",
            ("webhooks", "rest_hooks"),
        ),
        Chapter(
            "Workflows",
            "Draw the way that people take when they sign in: conditions, further factors, forms, calls of your server and refusals.",
            ("workflows", "default_workflow", "token_hook"),
        ),
        Chapter("Themes and domains", "How the hosted pages look, and the domains that serve them.", ("themes", "custom_domains")),
        Chapter(
            "Storefronts",
            "Sign in at Shopify, BigCommerce and PerfectMind with a Gatehouse account.",
            ("storefronts", "shopify_stores", "bigcommerce_stores", "perfectmind_sites"),
        ),
    ),
    "Everything that you can set for a tenant, from your server.",
)  # fmt: skip

GROUPS: Final = (SIGN_IN, OAUTH, OWN_ACCOUNT, MANAGE, ORGANIZATIONS, CONFIGURATION)
