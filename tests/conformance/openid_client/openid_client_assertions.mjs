// A program on openid-client that authenticates with a signed JWT: by `key`, a private JWK, or by `secret`. It pushes a request, gets a
// token, introspects and revokes it. See localhost.mjs.
import * as client from "openid-client";
import { fetchHere, read, write } from "./localhost.mjs";

const { issuer, client_id, key, secret, callback } = await read();
const { kid, use, ...jwk } = key ?? {};
const imported = key && (await crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]));
const authentication = key ? client.PrivateKeyJwt({ key: imported, kid }) : client.ClientSecretJwt(secret);
const config = await client.discovery(new URL(issuer), client_id, undefined, authentication, {
  execute: [client.allowInsecureRequests],
  [client.customFetch]: fetchHere,
});
config[client.customFetch] = fetchHere;

const pkce = { code_challenge: await client.calculatePKCECodeChallenge(client.randomPKCECodeVerifier()), code_challenge_method: "S256" };
const pushed = await client.buildAuthorizationUrlWithPAR(config, { redirect_uri: callback, scope: "openid", ...pkce });
const { access_token } = await client.clientCredentialsGrant(config);
const before = await client.tokenIntrospection(config, access_token);
await client.tokenRevocation(config, access_token);
const after = await client.tokenIntrospection(config, access_token);
write({ query: [...pushed.searchParams.keys()].sort(), client_id: before.client_id, active: [before.active, after.active] });
process.exit(0);
