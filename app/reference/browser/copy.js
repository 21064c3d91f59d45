/* Each piece of code can be copied. */
for (const code of document.querySelectorAll("figure.code")) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.querySelector("code").textContent.trimEnd());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  code.append(button);
}
