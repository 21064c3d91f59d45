// Move the focus to the error summary, also in browsers that support autofocus on fields only.
(function () {
  var summary = document.getElementById("summary");
  if (summary) summary.focus();
})();
// The present tab of a row that is wider than the phone, for browsers without `scroll-initial-target` (account.css).
document.querySelectorAll(".tabs [aria-current], .subtabs [aria-current]").forEach(function (tab) {
  tab.scrollIntoView({ block: "nearest", inline: "nearest" });
});
