// Calls node-saml with the JSON of the standard input, and prints the answer as JSON.
import { readFileSync } from "node:fs";
import { SAML, ValidateInResponseTo } from "@node-saml/node-saml";

const { options, call, response, profile, query } = JSON.parse(readFileSync(0, "utf8"));
const saml = new SAML({ ...options, validateInResponseTo: ValidateInResponseTo.never });
const calls = {
  login: () => saml.getAuthorizeUrlAsync("its-state", undefined, {}),
  response: async () => {
    const { profile: found } = await saml.validatePostResponseAsync({ SAMLResponse: response });
    return { ...found, ...found.attributes };
  },
  logout: () => saml.getLogoutUrlAsync(profile, "its-state", {}),
  signed_out: () => saml.validateRedirectAsync(Object.fromEntries(new URLSearchParams(query)), query),
};
process.stdout.write(JSON.stringify(await calls[call]()));
