// First save the codes, then say so: "Download" is the filled button until one of the ways to keep the codes was used.
(function () {
  var ways = document.querySelectorAll(".sheet .row-actions .button"), done = document.querySelector(".saved .button");
  if (!done) return;
  function lead(isSaved) {
    ways[0].classList.toggle("button--plain", isSaved);
    done.classList.toggle("button--plain", !isSaved);
  }
  lead(false);
  ways.forEach(function (way) {
    way.addEventListener("click", function () { lead(true); });
  });
})();
