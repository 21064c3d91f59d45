// Development only: browsers find http://NAME.localhost on this machine; this makes Node.js find it everywhere, too (RFC 6761, section 6.3).
import dns from "node:dns";

const { lookup } = dns;
dns.lookup = (host, ...more) => lookup(host.endsWith(".localhost") ? "127.0.0.1" : host, ...more);
