/* The session iframe (OpenID Connect Session Management 1.0 section 3.2). It answers one message at a time and shows nothing.
   Without the cookie it answers "error": the browser keeps it from frames, and "changed" would make the application ask for ever. */
(function () {
  "use strict";

  function state() {
    var found = /(?:^|; )(?:__Secure-)?gatehouse-state=([A-Za-z0-9_-]{1,64})(?:;|$)/.exec(document.cookie);
    return found ? found[1] : "";
  }

  function hexadecimal(digest) {
    return Array.prototype.map
      .call(new Uint8Array(digest), function (byte) {
        return ("0" + byte.toString(16)).slice(-2);
      })
      .join("");
  }

  window.addEventListener("message", function (event) {
    var parts = typeof event.data === "string" && event.data.length < 1000 ? event.data.split(" ") : [];
    var known = parts.length === 2 ? /^([0-9a-f]{64})\.([A-Za-z0-9_-]{1,64})$/.exec(parts[1]) : null;
    var held = state();
    if (!event.source || !/^https?:/.test(event.origin)) {
      return;
    }
    function answer(text) {
      event.source.postMessage(text, event.origin);
    }
    if (!known || !held || !window.crypto || !crypto.subtle) {
      answer("error");
      return;
    }
    crypto.subtle
      .digest("SHA-256", new TextEncoder().encode([parts[0], event.origin, held, known[2]].join(" ")))
      .then(function (digest) {
        answer(hexadecimal(digest) === known[1] ? "unchanged" : "changed");
      })
      .catch(function () {
        answer("error");
      });
  });
})();
