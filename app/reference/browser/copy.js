/* Each piece of code can be copied. */
for (const code of document.querySelectorAll("figure.code")) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "copy", innerHTML: '<svg viewBox="0 0 24 24" aria-hidden="true"><rect x="8.5" y="8.5" width="12" height="12" rx="2.5"/><path d="M15.5 5.5a2 2 0 0 0-2-2h-8a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2"/></svg><span>Copy</span>' });
  const label = button.lastElementChild;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.querySelector("code").textContent.trimEnd());
    label.textContent = "Copied";
    setTimeout(() => { label.textContent = "Copy"; }, 1500);
  });
  code.append(button);
}
