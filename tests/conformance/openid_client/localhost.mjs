// How a relying party in a test talks: to the test by lines of JSON on stdin and stdout, and to servers on this machine.
import { request as plainly } from "node:http";
import { request as overTls } from "node:https";
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
export const write = (what) => process.stdout.write(JSON.stringify(what) + "\n");
export const read = async () => JSON.parse((await lines.next()).value);
export const visit = async (open, until) => {
  write({ open: String(open), until });
  return new URL((await read()).at);
};

// Names under .localhost are this machine, whatever the resolver says.
const lookup = (_name, options, done) => (options.all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4));
// A fetch whose connections have the options of TLS, such as a certificate and its key.
export const fetchOver = (tls) => (address, options) =>
  new Promise((resolve, reject) => {
    const headers = Object.fromEntries(new Headers(options.headers));
    const request = new URL(address).protocol === "https:" ? overTls : plainly;
    const sent = request(address, { method: options.method, headers, lookup, ...tls }, (answer) => {
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
export const fetchHere = fetchOver({});
