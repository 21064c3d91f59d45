"""Error profiles: the errors of malformed requests and of refused credentials."""

from dataclasses import replace

from app.contract import errors
from app.contract.auth import AuthScheme
from app.contract.oauth import oauth_errors
from app.kit.operations.operation import ErrorProfile

_MACHINE_ERRORS = (errors.MachineRefused, errors.TrialExpired, errors.IpRefused)

MAIN = ErrorProfile(
    name="main",
    bad_parameter=errors.BadParameter,
    bad_body=errors.BadPostBody,
    bad_put_body=errors.BadPutBody,
    bad_delete_body=errors.BadDeleteBody,
    bad_content_type=errors.BadContentType,
    broken=errors.Broken,
    dangerous=errors.Dangerous,
    access_refused=errors.AccessRefused,
    reauthentication_required=errors.FreshSignInRequired,
    common=(errors.UnknownKey, errors.TooManyRequests),
    by_scheme=(
        (AuthScheme.API_KEY, (errors.TrialExpired,)),
        (
            AuthScheme.API_SECRET,
            (
                errors.WrongSecret,
                errors.MissingSecret,
                errors.MalformedSecret,
                *errors.SIGNATURE_ERRORS,
                errors.IpRefused,
                errors.EndpointForbidden,
                errors.TrialExpired,
            ),
        ),
        (AuthScheme.ACCESS_TOKEN, (errors.NotAuthenticated, errors.PrivacyPolicyOutdated)),
        (AuthScheme.MACHINE_TOKEN, _MACHINE_ERRORS),
    ),
)

_WITHOUT_TOKEN = tuple((scheme, errors) for scheme, errors in MAIN.by_scheme if scheme is not AuthScheme.ACCESS_TOKEN)


BEFORE_POLICY = replace(MAIN, by_scheme=(*_WITHOUT_TOKEN, (AuthScheme.ACCESS_TOKEN, (errors.NotAuthenticated,))))
"""Operations that an account may call before it has accepted the privacy policy; all others of MAIN answer 1194 until then."""

SIGN_ON = replace(MAIN, name="sign_on", common=(*MAIN.common, errors.UnknownTenant))
"""Operations of sign-on at the host of a tenant."""

MANAGE = ErrorProfile(
    name="manage",
    refuses_unknown_members=True,
    bad_parameter=errors.BadField,
    bad_body=errors.BadManagePost,
    bad_put_body=errors.BadManagePut,
    bad_delete_body=errors.BadManagePost,
    bad_content_type=errors.BadContentType,
    broken=errors.BrokenManage,
    dangerous=errors.Dangerous,
    common=(errors.TooManyRequests,),
    by_scheme=((AuthScheme.MACHINE_TOKEN, _MACHINE_ERRORS),),
)


SAML = replace(MANAGE, name="saml", bad_put_body=errors.BadPutBody, empty_put_body=errors.BadPutBody)
"""The SAML clients and providers: a PUT without a setting is 1079 as well."""

OLDER_MANAGE = replace(MAIN, name="older_manage", refuses_unknown_members=True)
"""The older address of a resource: with the errors of the API secret, as its clients know them."""

_OF_SERVERS = tuple(item for item in MAIN.by_scheme if item[0] is not AuthScheme.ACCESS_TOKEN)

MANAGE_WITH_SECRET = replace(
    MANAGE,
    name="manage_with_secret",
    common=(errors.BadParameter, errors.UnknownKey, errors.TooManyRequests),
    by_scheme=_OF_SERVERS,
)
"""Operations of machine tokens that existing client libraries call with the API key and secret."""


ORGANIZATIONS = replace(
    MANAGE,
    name="organizations",
    common=(errors.BadParameter, errors.UnknownKey, errors.TooManyRequests),
    by_scheme=(*_OF_SERVERS, (AuthScheme.QUERY_CLIENT_SECRET, _MACHINE_ERRORS)),
)
"""Operations of organizations, which servers call with any of their credentials."""


NESTED = replace(
    ORGANIZATIONS,
    name="nested",
    bad_body=errors.BadNestedBody,
    bad_put_body=errors.BadNestedBody,
    bad_delete_body=errors.BadNestedBody,
)
"""Those of roles, role assignment and invitations, whose bodies have an error of their own."""

OAUTH = ErrorProfile(
    name="oauth",
    bad_parameter=oauth_errors.InvalidRequest,
    bad_body=oauth_errors.InvalidRequest,
    bad_content_type=oauth_errors.InvalidRequest,
    broken=oauth_errors.ServerError,
    dangerous=oauth_errors.InvalidRequest,
    wrong_method=oauth_errors.WrongMethod,
    access_refused=oauth_errors.InsufficientScope,
    common=(errors.BadParameter, errors.UnknownKey, errors.UnknownTenant, oauth_errors.SlowDown),
    by_scheme=(
        (AuthScheme.API_KEY, (errors.TrialExpired,)),
        (AuthScheme.CLIENT, (oauth_errors.InvalidClient, oauth_errors.UnauthorizedClient)),
        (AuthScheme.ACCESS_TOKEN, (oauth_errors.InvalidToken,)),
    ),
)

REGISTRATION = replace(
    OAUTH,
    name="registration",
    bad_parameter=oauth_errors.InvalidClientMetadata,
    bad_body=oauth_errors.InvalidClientMetadata,
    bad_content_type=oauth_errors.InvalidClientMetadata,
    dangerous=oauth_errors.InvalidClientMetadata,
)
"""Registration of applications, whose errors are those of RFC 7591 section 3.2.2."""

HUB = ErrorProfile(
    name="hub",
    bad_parameter=errors.BadParameter,
    bad_body=errors.BadPostBody,
    bad_content_type=errors.BadContentType,
    broken=errors.Broken,
    dangerous=errors.Dangerous,
    common=(errors.UnknownTenant, errors.HubRefused, errors.TooManyRequests, errors.AnotherAccount),
)
