// Each choice shows at once, and a page somewhat taller than its frame shrinks until its foot shows too.
(function () {
  var form = document.querySelector(".tools");
  form.addEventListener("change", function (event) {
    if (event.target.localName === "select") form.requestSubmit();
  });
  window.addEventListener("pageshow", function () { form.reset(); }); // back from the next choice, as the page shows this one

  function fit(frame) {
    var page = frame.contentDocument;
    if (!page || page.URL === "about:blank") return;
    var scale = page.documentElement.scrollHeight / frame.offsetHeight;
    if (scale > 1 && scale < 1.4) frame.style.setProperty("--fit", scale);
  }

  document.querySelectorAll(".shot iframe").forEach(function (frame) {
    frame.addEventListener("load", function () { fit(frame); });
    fit(frame);
  });
})();
