// Go on with the session of another tab: after a page of the sign-in left there, ask for this one anew as soon as it is seen.
// Not for the answer to a form, whose address has no attempt: it has what was typed before.
(function () {
  var channel, left, typed;
  if (location.search.indexOf("attempt=") < 0 || !window.BroadcastChannel) return;
  channel = new BroadcastChannel("gatehouse");
  channel.onmessage = function () {
    left = true;
    ask();
  };
  function ask() {
    if (left && !typed && document.visibilityState === "visible" && document.hasFocus()) {
      location.replace(location.pathname + location.search);
    }
  }
  document.addEventListener("keydown", function () {
    typed = true;
  });
  document.addEventListener("visibilitychange", ask);
  window.addEventListener("focus", ask);
})();
