// A relying party on openid-client that authenticates with the certificate of its TLS connections (RFC 8705): pushed request, code,
// refresh, userinfo and a token of its own, at the `mtls_endpoint_aliases`. With `dpop` its tokens are bound to a key instead.
import * as client from "openid-client";
import { fetchOver, read, visit, write } from "./localhost.mjs";

const { issuer, client_id, callback, dpop, trust, certificate, key } = await read();
const fetchWithCertificate = fetchOver({ ca: trust, cert: certificate, key });
const seen = [];
const fetchSeen = async (address, options) => {
  const answer = await fetchWithCertificate(address, options);
  seen.push({ address: String(address), status: answer.status });
  return answer;
};
const config = await client.discovery(new URL(issuer), client_id, { use_mtls_endpoint_aliases: true }, client.TlsClientAuth(), {
  [client.customFetch]: fetchSeen,
});
config[client.customFetch] = fetchSeen;

const bound = dpop ? { DPoP: client.getDPoPHandle(config, await client.randomDPoPKeyPair("ES256")) } : {};
const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const pkce = { code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" };
const asked = { redirect_uri: callback, scope: "openid email offline_access", prompt: "consent", state, ...pkce };
const pushed = await client.buildAuthorizationUrlWithPAR(config, asked, bound);
const back = await visit(pushed, callback);
const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state }, undefined, bound);
const subject = tokens.claims().sub;
const person = await client.fetchUserInfo(config, tokens.access_token, subject, bound);
const renewed = await client.refreshTokenGrant(config, tokens.refresh_token, undefined, bound);
const again = await client.fetchUserInfo(config, renewed.access_token, subject, bound);
const own = await client.clientCredentialsGrant(config, undefined, bound);
const shown = await client.tokenIntrospection(config, renewed.access_token);
write({
  types: [tokens.token_type, renewed.token_type, own.token_type],
  query: [...pushed.searchParams.keys()].sort(),
  opened: pushed.host,
  is_same_person: person.email === again.email && again.sub === subject,
  email: person.email,
  iss: back.searchParams.get("iss"),
  hosts: [...new Set(seen.map((one) => new URL(one.address).host))],
  statuses: [...new Set(seen.map((one) => one.status))],
  cnf: Object.keys(shown.cnf ?? {}),
  is_rotated: renewed.refresh_token !== tokens.refresh_token,
  access_token: renewed.access_token,
  refresh_token: renewed.refresh_token,
});
process.exit(0);
