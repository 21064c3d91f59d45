"""The families of operations: how each refuses malformed requests (interface errors.md, user.md section 0)."""

from dataclasses import replace

from app.contract import errors as e
from app.contract import errors_oauth as oauth
from app.kit.operation import Family, Letter

_OF_MACHINES = (e.MachineRefused, e.TrialExpired, e.IpRefused)

MAIN = Family(
    name="main",
    bad_parameter=e.BadParameter,
    bad_body=e.BadPostBody,
    bad_put_body=e.BadPutBody,
    bad_delete_body=e.BadDeleteBody,
    bad_content_type=e.BadContentType,
    broken=e.Broken,
    dangerous=e.Dangerous,
    access_refused=e.AccessRefused,
    proof_needed=e.ProofNeeded,
    common=(e.UnknownKey, e.TooManyRequests),
    by_letter=(
        (Letter.K, (e.TrialExpired,)),
        (
            Letter.S,
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
        (Letter.U, (e.NotAuthenticated, e.PrivacyPolicyOutdated)),
        (Letter.M, _OF_MACHINES),
    ),
)

_ANY_PERSON = tuple((letter, held) for letter, held in MAIN.by_letter if letter is not Letter.U)
BEFORE_POLICY = replace(MAIN, by_letter=(*_ANY_PERSON, (Letter.U, (e.NotAuthenticated,))))
"""Of what a token opens before its owner accepted the privacy policy: all else of MAIN waits for that (1194)."""

MANAGE = Family(
    name="manage",
    bad_parameter=e.BadField,
    bad_body=e.BadManagePost,
    bad_put_body=e.BadManagePut,
    bad_delete_body=e.BadManagePost,
    bad_content_type=e.BadContentType,
    broken=e.BrokenManage,
    dangerous=e.Dangerous,
    common=(e.TooManyRequests,),
    by_letter=((Letter.M, _OF_MACHINES),),
)

OAUTH = Family(
    name="oauth",
    bad_parameter=oauth.InvalidRequest,
    bad_body=oauth.InvalidRequest,
    bad_content_type=oauth.InvalidRequest,
    broken=oauth.ServerError,
    dangerous=oauth.InvalidRequest,
    wrong_method=oauth.WrongMethod,
    access_refused=oauth.InsufficientScope,
    common=(e.BadParameter, e.UnknownKey, e.UnknownTenant, oauth.SlowDown),
    by_letter=((Letter.C, (oauth.InvalidClient, oauth.UnauthorizedClient)), (Letter.U, (oauth.InvalidToken,))),
)

HUB = Family(
    name="hub",
    bad_parameter=e.BadParameter,
    bad_body=e.BadPostBody,
    bad_content_type=e.BadContentType,
    broken=e.Broken,
    dangerous=e.Dangerous,
    common=(e.UnknownTenant, e.HubRefused, e.TooManyRequests),
)
