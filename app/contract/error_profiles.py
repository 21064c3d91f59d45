"""Error profiles: the errors that groups of operations share (interface errors.md, user.md section 0)."""

from dataclasses import replace

from app.contract import errors as e
from app.contract import errors_oauth as oauth
from app.contract.auth import AuthScheme
from app.kit.operation import ErrorProfile

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
    reauthentication_required=e.ProofNeeded,
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

MANAGE = ErrorProfile(
    name="manage",
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
        (AuthScheme.CLIENT, (oauth.InvalidClient, oauth.UnauthorizedClient)),
        (AuthScheme.ACCESS_TOKEN, (oauth.InvalidToken,)),
    ),
)

HUB = ErrorProfile(
    name="hub",
    bad_parameter=e.BadParameter,
    bad_body=e.BadPostBody,
    bad_content_type=e.BadContentType,
    broken=e.Broken,
    dangerous=e.Dangerous,
    common=(e.UnknownTenant, e.HubRefused, e.TooManyRequests),
)
