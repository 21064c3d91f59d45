// Press the button of a page that may continue by itself, once somebody sees the page, in its own tab.
// Once only, and not after Back or a reload, or in a page that the browser loaded ahead; without scripts a person presses it.
(function () {
  var form = document.querySelector("[data-continue]"), entry = performance.getEntriesByType("navigation")[0], done;
  if (!form || window !== window.top || !entry || entry.type !== "navigate") return;
  function go() {
    if (done || document.prerendering || document.visibilityState !== "visible") return;
    form.querySelector("[hidden]").hidden = false;
    form.querySelector("button").click();
  }
  form.addEventListener("submit", function () {
    done = true;
  });
  document.addEventListener("visibilitychange", go);
  document.addEventListener("prerenderingchange", go);
  go();
})();
