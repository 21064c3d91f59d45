// A phone's app on AppAuth-JS. It gets the settings of an app on standard input, then says in lines of JSON which address the phone opens, and gets the
// address that the browser returned by: once to sign in, and once to sign out. At the end it writes the received values.
import dns from "node:dns";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const appauth = require("@openid/appauth");
const { NodeCrypto, NodeRequestor } = require("@openid/appauth/built/node_support");
appauth.setFlag?.("IS_LOG", false);

// Names under .localhost are this machine, whatever the resolver says.
const resolve = dns.lookup;
dns.lookup = (name, options, done) => resolve(name.endsWith(".localhost") ? "127.0.0.1" : name, options, done);

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value);
const send = (what) => process.stdout.write(JSON.stringify(what) + "\n");

/** Opens the phone's browser; the phone calls the app with the address that has the app's scheme. */
class Phone extends appauth.AuthorizationRequestHandler {
  constructor() {
    super(new appauth.BasicQueryStringUtils(), new NodeCrypto());
  }

  async performAuthorizationRequest(configuration, request) {
    await request.setupCodeVerifier();
    this.request = request;
    send({ open: this.buildRequestUrl(configuration, request) });
    await this.completeAuthorizationRequestIfPossible();
  }

  async completeAuthorizationRequest() {
    const returned = new URL((await next()).returned).searchParams;
    if (returned.get("state") !== this.request.state) throw new Error("another state");
    return { request: this.request, response: new appauth.AuthorizationResponse({ code: returned.get("code"), state: returned.get("state") }), error: null };
  }
}

const { issuer, client_id, redirect_uri, signed_out_uri, scope } = await next();
const requestor = new NodeRequestor();
const configuration = await appauth.AuthorizationServiceConfiguration.fetchFromIssuer(issuer, requestor);
const tokens = new appauth.BaseTokenRequestHandler(requestor);
const ask = (members) => tokens.performTokenRequest(configuration, new appauth.TokenRequest({ client_id, redirect_uri, ...members }));

const request = new appauth.AuthorizationRequest({ client_id, redirect_uri, scope, response_type: "code" }, new NodeCrypto());
const phone = new Phone();
const answered = new Promise((found, failed) => {
  const notifier = new appauth.AuthorizationNotifier();
  notifier.setAuthorizationListener((_request, response, error) => (response ? found(response) : failed(error)));
  phone.setAuthorizationNotifier(notifier);
});
await phone.performAuthorizationRequest(configuration, request);
const { code } = await answered;
const first = await ask({ grant_type: "authorization_code", code, extras: { code_verifier: request.internal.code_verifier } });
const renewed = await ask({ grant_type: "refresh_token", refresh_token: first.refreshToken });
const user = await requestor.xhr({
  url: configuration.userInfoEndpoint, method: "GET", dataType: "json", headers: { Authorization: `Bearer ${renewed.accessToken}` },
});

// AppAuth-JS has no request for the end of a session; the SDKs of both phones send these parameters.
const state = new NodeCrypto().generateRandom(10);
const query = new URLSearchParams({ id_token_hint: renewed.idToken, post_logout_redirect_uri: signed_out_uri, state });
send({ open: `${configuration.endSessionEndpoint}?${query}` });
if (new URL((await next()).returned).searchParams.get("state") !== state) throw new Error("another state");
await tokens.performRevokeTokenRequest(configuration, new appauth.RevokeTokenRequest({ client_id, token: renewed.refreshToken }));
send({
  claims: JSON.parse(Buffer.from(first.idToken.split(".")[1], "base64url")),
  user, scope: first.scope, is_rotated: renewed.refreshToken !== first.refreshToken, revoked: renewed.refreshToken,
});
process.exit(0);
