// Move the focus to the error summary, also in browsers that support autofocus on fields only.
(function () {
  var summary = document.getElementById("summary");
  if (summary) summary.focus();
})();
