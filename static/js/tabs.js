// Go on with the session of another tab: after a page of the sign-in left there, ask for this one anew as soon as it is seen.
(function () {
  var field = document.querySelector("[name=attempt]"), channel, left, typed;
  if (!field || !window.BroadcastChannel) return;
  channel = new BroadcastChannel("gatehouse");
  channel.onmessage = function () {
    left = true;
    ask();
  };
  function ask() {
    if (left && !typed && document.visibilityState === "visible" && document.hasFocus()) {
      location.replace(location.pathname + "?attempt=" + encodeURIComponent(field.value));
    }
  }
  document.addEventListener("keydown", function () {
    typed = true;
  });
  document.addEventListener("visibilitychange", ask);
  window.addEventListener("focus", ask);
})();
