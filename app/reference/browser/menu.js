/* The menu shows the current page, and begins there. */
{
  const side = document.querySelector("#side");
  const reveal = () => {
    const current = [...side.querySelectorAll("[aria-current=page]")].at(-1);
    if (current) side.scrollTop = current.offsetTop - side.clientHeight / 3;
  };
  reveal();
  side.addEventListener("toggle", reveal);
}
