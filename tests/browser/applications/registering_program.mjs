// A program in a browser, as MCP clients are: it discovers a server, registers itself, and says what each response was.
const issuer = new URLSearchParams(location.search).get("issuer") ?? sessionStorage.issuer;
const version = {"MCP-Protocol-Version": "2025-06-18"};
const resource = "https://mcp.acme.example/mcp";
const said = {};
async function ask(step, address, options = {}) {
  try {
    const answer = await fetch(address, {...options, headers: {...version, ...options.headers}});
    const text = await answer.text();
    said[step] = {status: answer.status, challenge: answer.headers.get("WWW-Authenticate"), body: text ? JSON.parse(text) : {}};
  } catch (problem) { said[step] = {status: 0, body: {}, problem: String(problem)}; }
  return said[step].body;
}
const form = (fields) => ({method: "POST", body: new URLSearchParams(fields)});
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const server = await ask("metadata", `${issuer}/.well-known/oauth-authorization-server`);
const code = new URLSearchParams(location.search).get("code");
if (!code) {
  await ask("keys", server.jwks_uri);
  const client = await ask("registration", server.registration_endpoint, {method: "POST", headers: {"Content-Type": "application/json"},
    body: JSON.stringify({client_name: "Inspector", redirect_uris: [`${location.origin}/callback`], token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"], response_types: ["code"]})});
  await ask("reading", client.registration_client_uri, {headers: {Authorization: `Bearer ${client.registration_access_token}`}});
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(48)));
  const challenge = base64url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)));
  Object.assign(sessionStorage, {issuer, verifier, client: client.client_id, said: JSON.stringify(said)});
  if (client.client_id) location.assign(server.authorization_endpoint + "?" + new URLSearchParams({response_type: "code",
    client_id: client.client_id, redirect_uri: `${location.origin}/callback`, code_challenge: challenge, 
    code_challenge_method: "S256", resource}));
} else {
  Object.assign(said, JSON.parse(sessionStorage.said));
  const known = {client_id: sessionStorage.client, resource: resource};
  const held = await ask("tokens", server.token_endpoint, form({...known, grant_type: "authorization_code", code,
    redirect_uri: `${location.origin}/callback`, code_verifier: sessionStorage.verifier}));
  await ask("claims", server.userinfo_endpoint, {headers: {Authorization: `Bearer ${held.access_token}`, traceparent: "00-1-2-01"}});
  await ask("wrong", server.userinfo_endpoint, {headers: {Authorization: "Bearer x", "X-Requested-With": "fetch"}});
  const renewed = await ask("refreshed", server.token_endpoint,
    form({...known, grant_type: "refresh_token", refresh_token: held.refresh_token}));
  await ask("refused", server.token_endpoint, form({...known, grant_type: "authorization_code", code: "x"}));
  await ask("revoked", server.revocation_endpoint, form({client_id: sessionStorage.client, token: renewed.refresh_token ?? ""}));
  await ask("foreign", server.token_endpoint, form({client_id: "desk", grant_type: "authorization_code", code: "x"}));
  await ask("custom", server.token_endpoint, {...form({...known, grant_type: "refresh_token"}), headers: {"X-Api-Key": "1"}});
}
document.getElementById("said").textContent = JSON.stringify(said);
document.title = "Done";
