"""The rows of the interface by which people sign in with identities of other providers, transcribed by hand from its specification.

The specification is not in this repository. Of SAML it has the rows of both roles.
"""

from __future__ import annotations

_ROWS = """
GET /service/jwt/{app}/authorize
POST /api/jwt/{app}/login
GET /api/jwt/{app}/token
GET /access/jwt
GET /service/saml/idp/login
POST /service/saml/idp/login
GET /service/saml/idp/logout
POST /service/saml/idp/logout
GET /service/saml/idp/metadata
GET /v2/manage/saml-clients
POST /v2/manage/saml-clients
GET /v2/manage/saml-clients/{samlApp}
PUT /v2/manage/saml-clients/{samlApp}
DELETE /v2/manage/saml-clients/{samlApp}
POST /v2/manage/saml-clients/{samlApp}/renew-certificate
GET /v2/manage/saml-clients/integrations
GET /oauth/sp/{opaque}/callback
GET /oauth/sp/{opaque}/login
POST /saml/serviceprovider/SpInitiatedACS.aspx
POST /saml/serviceprovider/AdfsACS.aspx
GET /saml/sp/{opaque}/metadata.xml
POST /saml/sp/acs/{opaque}
GET /saml/sp/{opaque}
GET /saml/sp/{opaque}/logout
GET /RequestHandler.aspx
GET /socialauth/validate.sauth
POST /socialauth/validate.sauth
GET /identity/v2/auth/account/ping
GET /api/v2/access_token
GET /api/v2/access_token/validate
GET /api/v2/access_token/invalidate
GET /api/v2/access_token/activeSession
GET /api/v2/access_token/refresh
GET /identity/v2/manage/account/access_token/refresh
GET /identity/v2/manage/account/access_token/refresh/revoke
DELETE /identity/v2/manage/account/{uid}/access_token/refresh/revoke
GET /api/v2/access_token/{nativeProvider}
GET /v2/manage/organizations/{orgId}/connections
POST /v2/manage/organizations/{orgId}/connections
GET /v2/manage/organizations/{orgId}/connections/{connId}
PUT /v2/manage/organizations/{orgId}/connections/{connId}
DELETE /v2/manage/organizations/{orgId}/connections/{connId}
PUT /v2/manage/organizations/{orgId}/connections/{connId}/status
GET /v2/manage/organizations/{orgId}/connections/{connId}/grouproles
POST /v2/manage/organizations/{orgId}/connections/{connId}/grouproles
PUT /v2/manage/organizations/{orgId}/connections/{connId}/grouproles/{groupRoleId}
DELETE /v2/manage/organizations/{orgId}/connections/{connId}/grouproles/{groupRoleId}
GET /v2/manage/permissions
POST /v2/manage/permissions
GET /v2/manage/permissions/{id}
PUT /v2/manage/permissions/{id}
DELETE /v2/manage/permissions/{id}
GET /v2/manage/roles
POST /v2/manage/roles
GET /v2/manage/roles/{id}
PUT /v2/manage/roles/{id}
DELETE /v2/manage/roles/{id}
GET /v2/manage/roles/{name}/name
PUT /v2/manage/roles/{id}/default
GET /v2/manage/organizations/{orgId}/roles
POST /v2/manage/organizations/{orgId}/roles
GET /v2/manage/providers
GET /v2/manage/providers/{provider}
PUT /v2/manage/providers/{provider}
GET /v2/manage/jwt-clients
POST /v2/manage/jwt-clients
GET /v2/manage/jwt-clients/{jwtClientName}
PUT /v2/manage/jwt-clients/{jwtClientName}
DELETE /v2/manage/jwt-clients/{jwtClientName}
GET /v2/manage/jwt-clients/algorithms
GET /v2/manage/oauth-clients
POST /v2/manage/oauth-clients
GET /v2/manage/oauth-clients/{oAuthClientName}
PUT /v2/manage/oauth-clients/{oAuthClientName}
DELETE /v2/manage/oauth-clients/{oAuthClientName}
PUT /v2/manage/oauth-clients/credentials/{oAuthClientName}
GET /v2/manage/custom-providers/oauth
POST /v2/manage/custom-providers/oauth
PUT /v2/manage/custom-providers/oauth
DELETE /v2/manage/custom-providers/oauth/{providerName}
GET /v2/manage/custom-providers/jwt
POST /v2/manage/custom-providers/jwt
GET /v2/manage/custom-providers/jwt/{jwtApp}
PUT /v2/manage/custom-providers/jwt/{jwtApp}
DELETE /v2/manage/custom-providers/jwt/{jwtApp}
"""
ROWS = tuple(_ROWS.split("\n")[1:-1])
_PARAMETERS = "pages/oauth/test_authorize_parameters.py"
_REALMS = "pages/organizations/connections/test_home_realms.py"
AUTHORIZE = {
    "connection": (_PARAMETERS, "test_connection_leads_to_provider_without_login_page"),
    "connection of an organization": (_REALMS, "test_authorization_request_redirects_at_once"),
    "provider": (_PARAMETERS, "test_connection_leads_to_provider_without_login_page"),
    "organization": (_REALMS, "test_organization_that_requires_it_redirects_at_once"),
    "invitation_token": (_PARAMETERS, "test_invitation_token_joins_then_returns_to_request"),
}
"""The parameters of authorization requests that choose how people sign in: the module below `tests`, and the test."""
NATIVE = (
    "applejwt", "applert", "facebookjwt", "apple", "jwt", "facebook", "foursquare", "google", "googlejwt", "linkedin", "twitter",
    "wechat", "qq",
)  # fmt: skip
NATIVE_QUERY = (
    "refresh_token", "socialappname", "redirect_uri", "providername", "code", "tw_access_token", "tw_token_secret", "google_authcode",
    "client_id", "google_access_token", "id_token", "fs_access_token", "ln_access_token", "fb_access_token", "invitation_token",
)  # fmt: skip
