// A relying party on openid-client (certified by the OpenID Foundation). It gets an issuer, an id and a secret. It asks the
// test to visit pages, one line of JSON at a time: it writes {"open": address, "until": prefix} and reads {"at": address}.
import { request } from "node:http";
import { createInterface } from "node:readline";
import * as client from "openid-client";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const write = (what) => process.stdout.write(JSON.stringify(what) + "\n");
const read = async () => JSON.parse((await lines.next()).value);
const visit = async (open, until) => {
  write({ open: String(open), until });
  return new URL((await read()).at);
};

// Names under .localhost are this machine, whatever the resolver says.
const lookup = (_name, options, done) => (options.all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4));
const fetchHere = (address, options) =>
  new Promise((resolve, reject) => {
    const headers = Object.fromEntries(new Headers(options.headers));
    const sent = request(address, { method: options.method, headers, lookup }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => {
        const body = Buffer.concat(parts);
        resolve(new Response(body.length ? body : null, { status: answer.statusCode, headers: answer.headers }));
      });
    });
    sent.on("error", reject);
    sent.end(options.body ? String(options.body) : undefined);
  });

const { issuer, client_id, secret, callback, bye } = await read();
const config = await client.discovery(new URL(issuer), client_id, undefined, secret ? client.ClientSecretBasic(secret) : client.None(), {
  execute: [client.allowInsecureRequests],
  [client.customFetch]: fetchHere,
});
config[client.customFetch] = fetchHere;

const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const nonce = client.randomNonce();
const pkce = { code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" };
const asked = client.buildAuthorizationUrl(config, {
  redirect_uri: callback,
  scope: "openid profile email",
  ...pkce,
  state,
  nonce,
  max_age: "3600",
});
const back = await visit(asked, callback);
const tokens = await client.authorizationCodeGrant(config, back, {
  pkceCodeVerifier: verifier,
  expectedState: state,
  expectedNonce: nonce,
  maxAge: 3600,
  idTokenExpected: true,
});
const claims = tokens.claims();
const person = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
const pushed = await client.buildAuthorizationUrlWithPAR(config, { redirect_uri: callback, scope: "openid", state, ...pkce });
const at_push = await visit(pushed, callback);
const by_push = await client.authorizationCodeGrant(config, at_push, { pkceCodeVerifier: verifier, expectedState: state });
const device = await client.initiateDeviceAuthorization(config, { scope: "openid email" });
const decided = await visit(device.verification_uri_complete, new URL("/device/done", device.verification_uri).href);
const of_device = await client.pollDeviceAuthorizationGrant(config, device);
const also = { is_pushed: pushed.search.includes("request_uri="), by_push: by_push.claims().sub, of_device: of_device.claims().sub };
const renewed = await client.refreshTokenGrant(config, tokens.refresh_token);
const introspection = secret ? await client.tokenIntrospection(config, renewed.access_token) : null;
await client.tokenRevocation(config, renewed.access_token);
let is_revoked = false;
try {
  await client.fetchUserInfo(config, renewed.access_token, claims.sub);
} catch (refusal) {
  is_revoked = refusal.cause?.some?.((challenge) => challenge.parameters.error === "invalid_token") ?? false;
}
const ended = await visit(
  client.buildEndSessionUrl(config, { post_logout_redirect_uri: bye, id_token_hint: tokens.id_token, state: "bye now" }),
  bye,
);
const quiet = { redirect_uri: callback, scope: "openid", prompt: "none", state, ...pkce };
const silent = await visit(client.buildAuthorizationUrl(config, quiet), callback);
let silent_error = "";
try {
  await client.authorizationCodeGrant(config, silent, { expectedState: state });
} catch (refusal) {
  silent_error = refusal.error;
}
write({ ...also, decided: String(decided), claims, person, introspection, is_revoked, is_rotated: renewed.refresh_token !== tokens.refresh_token, ended: String(ended), silent_error });
process.exit(0);
