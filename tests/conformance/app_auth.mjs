// A native application on AppAuth: it opens the system's browser and waits at a loopback address with a free port (RFC 8252).
// It gets an issuer, a client id and a port, and writes the received values as one line of JSON.
import dns from "node:dns";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const appauth = require("@openid/appauth");
const { NodeBasedHandler, NodeCrypto, NodeRequestor } = require("@openid/appauth/built/node_support");
appauth.setFlag?.("IS_LOG", false);

// Names under .localhost are this machine, whatever the resolver says.
const resolve = dns.lookup;
dns.lookup = (name, options, done) => resolve(name.endsWith(".localhost") ? "127.0.0.1" : name, options, done);

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { issuer, client_id, port } = JSON.parse((await lines.next()).value);
const requestor = new NodeRequestor();
const configuration = await appauth.AuthorizationServiceConfiguration.fetchFromIssuer(issuer, requestor);
const redirect_uri = `http://127.0.0.1:${port}/cb`;

const notifier = new appauth.AuthorizationNotifier();
const handler = new NodeBasedHandler(port);
handler.setAuthorizationNotifier(notifier);
const request = new appauth.AuthorizationRequest(
  { client_id, redirect_uri, scope: "openid email offline_access", response_type: "code" },
  new NodeCrypto(),
);
const code = await new Promise((found, failed) => {
  notifier.setAuthorizationListener((_request, response, error) => (response ? found(response.code) : failed(error)));
  handler.performAuthorizationRequest(configuration, request); // AppAuth opens the browser
});

const tokens = new appauth.BaseTokenRequestHandler(requestor);
const ask = (members) => tokens.performTokenRequest(configuration, new appauth.TokenRequest({ client_id, redirect_uri, ...members }));
const first = await ask({ grant_type: "authorization_code", code, extras: { code_verifier: request.internal.code_verifier } });
const renewed = await ask({ grant_type: "refresh_token", refresh_token: first.refreshToken });
const claims = JSON.parse(Buffer.from(first.idToken.split(".")[1], "base64url"));
process.stdout.write(
  JSON.stringify({ claims, is_rotated: renewed.refreshToken !== first.refreshToken, is_renewed: renewed.accessToken !== first.accessToken }) + "\n",
);
process.exit(0);
