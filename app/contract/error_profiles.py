"""Error profiles: the errors of malformed requests and of refused credentials."""

from dataclasses import replace

from app.contract import errors as e
from app.contract.auth import AuthScheme
from app.contract.oauth import errors as oauth
from app.kit.operations.operation import ErrorProfile

_MACHINE_ERRORS = (e.MachineRefused, e.TrialExpired, e.IpRefused)

MAIN = ErrorProfile(
    name="main",
    bad_parameter=e.BadParameter,
    bad_body=e.BadPostBody,
    bad_put_body=e.BadPutBody,
    bad_delete_body=e.BadDeleteBody,
    bad_content_type=e.BadContentType,
    broken=e.Broken,
    dangerous=e.Dangerous,
    access_refused=e.AccessRefused,
    reauthentication_required=e.FreshSignInRequired,
    common=(e.UnknownKey, e.TooManyRequests),
    by_scheme=(
        (AuthScheme.API_KEY, (e.TrialExpired,)),
        (
            AuthScheme.API_SECRET,
            (
                e.WrongSecret,
                e.MissingSecret,
                e.MalformedSecret,
                *e.SIGNATURE_ERRORS,
                e.IpRefused,
                e.EndpointForbidden,
                e.TrialExpired,
            ),
        ),
        (AuthScheme.ACCESS_TOKEN, (e.NotAuthenticated, e.PrivacyPolicyOutdated)),
        (AuthScheme.MACHINE_TOKEN, _MACHINE_ERRORS),
    ),
)

_WITHOUT_TOKEN = tuple((scheme, errors) for scheme, errors in MAIN.by_scheme if scheme is not AuthScheme.ACCESS_TOKEN)


BEFORE_POLICY = replace(MAIN, by_scheme=(*_WITHOUT_TOKEN, (AuthScheme.ACCESS_TOKEN, (e.NotAuthenticated,))))
"""Operations that an account may call before it has accepted the privacy policy; all others of MAIN answer 1194 until then."""

SIGN_ON = replace(MAIN, name="sign_on", common=(*MAIN.common, e.UnknownTenant))
"""Operations of sign-on at the host of a tenant."""

MANAGE = ErrorProfile(
    name="manage",
    refuses_unknown_members=True,
    bad_parameter=e.BadField,
    bad_body=e.BadManagePost,
    bad_put_body=e.BadManagePut,
    bad_delete_body=e.BadManagePost,
    bad_content_type=e.BadContentType,
    broken=e.BrokenManage,
    dangerous=e.Dangerous,
    common=(e.TooManyRequests,),
    by_scheme=((AuthScheme.MACHINE_TOKEN, _MACHINE_ERRORS),),
)


SAML = replace(MANAGE, name="saml", bad_put_body=e.BadPutBody, empty_put_body=e.BadPutBody)
"""The SAML clients and providers: a PUT without a setting is 1079 as well."""

_OF_SERVERS = tuple(item for item in MAIN.by_scheme if item[0] is not AuthScheme.ACCESS_TOKEN)


ORGANIZATIONS = replace(
    MANAGE,
    name="organizations",
    common=(e.BadParameter, e.UnknownKey, e.TooManyRequests),
    by_scheme=(*_OF_SERVERS, (AuthScheme.QUERY_CLIENT_SECRET, _MACHINE_ERRORS)),
)
"""Operations of organizations, which servers call with any of their credentials."""


NESTED = replace(
    ORGANIZATIONS,
    name="nested",
    bad_body=e.BadNestedBody,
    bad_put_body=e.BadNestedBody,
    bad_delete_body=e.BadNestedBody,
)
"""Those of roles, role assignment and invitations, whose bodies have an error of their own."""

OAUTH = ErrorProfile(
    name="oauth",
    bad_parameter=oauth.InvalidRequest,
    bad_body=oauth.InvalidRequest,
    bad_content_type=oauth.InvalidRequest,
    broken=oauth.ServerError,
    dangerous=oauth.InvalidRequest,
    wrong_method=oauth.WrongMethod,
    access_refused=oauth.InsufficientScope,
    common=(e.BadParameter, e.UnknownKey, e.UnknownTenant, oauth.SlowDown),
    by_scheme=(
        (AuthScheme.API_KEY, (e.TrialExpired,)),
        (AuthScheme.CLIENT, (oauth.InvalidClient, oauth.UnauthorizedClient)),
        (AuthScheme.ACCESS_TOKEN, (oauth.InvalidToken,)),
    ),
)

REGISTRATION = replace(
    OAUTH,
    name="registration",
    bad_parameter=oauth.InvalidClientMetadata,
    bad_body=oauth.InvalidClientMetadata,
    bad_content_type=oauth.InvalidClientMetadata,
    dangerous=oauth.InvalidClientMetadata,
)
"""Registration of applications, whose errors are those of RFC 7591 section 3.2.2."""

HUB = ErrorProfile(
    name="hub",
    bad_parameter=e.BadParameter,
    bad_body=e.BadPostBody,
    bad_content_type=e.BadContentType,
    broken=e.Broken,
    dangerous=e.Dangerous,
    common=(e.UnknownTenant, e.HubRefused, e.TooManyRequests, e.AnotherAccount),
)
