"""WeChat, QQ and Weibo as their public documentation describes them: names, errors and answers of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.support.fakes.identity_provider import CLIENT, SECRET, ReceivedRequest
from tests.support.fakes.social_upstreams import Said, SocialUpstream


class WeChatUpstream(SocialUpstream):
    name = "wechat"
    documentation = ("https://developers.weixin.qq.com/doc/oplatform/en/Website_App/WeChat_Login/Wechat_Login.html",)
    authorize, token_path, profile_path = "/connect/qrconnect", "/sns/oauth2/access_token", "/sns/userinfo"
    client_name, scopes, fragment, gives_email = "appid", "snsapi_login", "wechat_redirect", False

    def routes(self) -> dict[tuple[str, str], Callable[[ReceivedRequest], Said]]:
        return {("GET", self.token_path): self._token, ("GET", self.profile_path): self._userinfo}

    def _token(self, request: ReceivedRequest) -> Said:
        query = request.query
        if (query.get("appid"), query.get("secret")) != (CLIENT, SECRET):
            return 200, {"errcode": 40013, "errmsg": "invalid appid"}
        grant = self.codes.pop(query.get("code", ""), None) if query.get("grant_type") == "authorization_code" else None
        if grant is None:
            return 200, {"errcode": 40163, "errmsg": "code been used"}
        who = grant.person
        return 200, {**self.issued(grant), "openid": who["id"], "scope": "snsapi_login", "unionid": union(who)}

    def _userinfo(self, request: ReceivedRequest) -> Said:
        grant = self.tokens.get(request.query.get("access_token", ""))
        if grant is None or request.query.get("openid") != str(grant.person["id"]):
            return 200, {"errcode": 40003, "errmsg": "invalid openid"}
        return 200, self.profile(grant.person)

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        return {"openid": who["id"], "nickname": who["name"], "headimgurl": who["picture"], "unionid": union(who)}


class QQUpstream(SocialUpstream):
    name = "qq"
    documentation = (
        "https://wiki.connect.qq.com/%e4%bd%bf%e7%94%a8authorization_code%e8%8e%b7%e5%8f%96access_token",
        "https://wiki.connect.qq.com/%e8%8e%b7%e5%8f%96%e7%94%a8%e6%88%b7openid_oauth2-0",
        "https://wiki.connect.qq.com/get_user_info",
    )
    authorize, token_path, profile_path = "/oauth2.0/authorize", "/oauth2.0/token", "/user/get_user_info"
    subject_path, scopes, gives_email = "/oauth2.0/me", "get_user_info", False
    ignores_format = False
    """Whether it answers as it does without `fmt=json`: by `callback(…);` and in the form of a query."""
    client_of_token = CLIENT

    def routes(self) -> dict[tuple[str, str], Callable[[ReceivedRequest], Said]]:
        return {
            ("GET", self.token_path): self._token, ("GET", "/oauth2.0/me"): self._me, ("GET", self.profile_path): self._user,
        }  # fmt: skip

    def _shaped(self, request: ReceivedRequest, content: dict[str, Any]) -> Said:
        is_json = request.query.get("fmt") == "json" and not self.ignores_format
        return 200, content if is_json else f"callback( {json.dumps(content)} );\n".encode()

    def _token(self, request: ReceivedRequest) -> Said:
        query = request.query
        if (query.get("client_id"), query.get("client_secret")) != (CLIENT, SECRET):
            return self._shaped(request, {"error": 100010, "error_description": "redirect uri is illegal"})
        grant = self.spent(query) if query.get("grant_type") == "authorization_code" else None
        if grant is None:
            return self._shaped(request, {"error": 100020, "error_description": "code is reused error"})
        token = self.issued(grant)["access_token"]
        if self.ignores_format:
            return 200, f"access_token={token}&expires_in=7776000&refresh_token=88E4".encode()
        return 200, {"access_token": token, "expires_in": 7776000, "refresh_token": "88E4"}

    def _me(self, request: ReceivedRequest) -> Said:
        grant = self.tokens.get(request.query.get("access_token", ""))
        if grant is None:
            return self._shaped(request, {"error": 100016, "error_description": "access token check failed"})
        content = {"client_id": self.client_of_token, "openid": grant.person["id"]}
        unionid = {"unionid": union(grant.person)} if request.query.get("unionid") == "1" else {}
        return self._shaped(request, {**content, **unionid})

    def _user(self, request: ReceivedRequest) -> Said:
        query, grant = request.query, self.tokens.get(request.query.get("access_token", ""))
        is_same = grant is not None and query.get("openid") == str(grant.person["id"])
        if grant is None or not is_same or query.get("oauth_consumer_key") != CLIENT:
            return 200, {"ret": -22, "msg": "openid is invalid"}
        return 200, self.profile(grant.person)

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        return {"ret": 0, "msg": "", "nickname": who["name"], "figureurl_qq": who["picture"]}


class WeiboUpstream(SocialUpstream):
    name = "sinaweibo"
    documentation = (
        "https://open.weibo.com/wiki/Oauth2/access_token",
        "https://open.weibo.com/wiki/Oauth2/get_token_info",
        "https://open.weibo.com/wiki/2/users/show",
    )
    authorize, token_path, profile_path = "/oauth2/authorize", "/oauth2/access_token", "/2/users/show.json"
    scopes, gives_email = "email", False

    def routes(self) -> dict[tuple[str, str], Callable[[ReceivedRequest], Said]]:
        return {
            ("POST", self.token_path): self._posted_token, ("POST", "/oauth2/get_token_info"): self._info,
            ("GET", self.profile_path): self._show,
        }  # fmt: skip

    def _posted_token(self, request: ReceivedRequest) -> Said:
        status, content = super()._posted_token(request)
        if status != 200:
            return status, {**content, "error_code": 21325}
        return status, {**content, "uid": str(self.tokens[content["access_token"]].person["id"])}

    def _info(self, request: ReceivedRequest) -> Said:
        grant = self.tokens.get(request.form.get("access_token", ""))
        if grant is None:
            return 400, {"error": "invalid_access_token", "error_code": 21332}
        return 200, {"uid": int(grant.person["id"]), "appkey": CLIENT, "expire_in": 157679471}

    def _show(self, request: ReceivedRequest) -> Said:
        grant = self.tokens.get(request.query.get("access_token", ""))
        if grant is None or request.query.get("uid") != str(grant.person["id"]):
            return 400, {"error": "User does not exists!", "error_code": 20003}
        return 200, self.profile(grant.person)

    def profile(self, who: dict[str, Any]) -> dict[str, Any]:
        number = int(who["id"]) if str(who["id"]).isdecimal() else 0
        shown = {"id": number, "idstr": who["id"], "screen_name": "ada", "name": who["name"]}
        return {**shown, "avatar_large": who["picture"]}


def union(who: dict[str, Any]) -> str:
    """Return the subject of a person for all apps of one developer."""
    return f"union-{who['id']}"
