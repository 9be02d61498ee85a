// Light and dark: as the system has it, until the reader chooses.

const THEMES = ["auto", "light", "dark"];

function themeButton() {
  let chosen = 0;
  const button = make("button", { type: "button", class: "plain", id: "theme" });
  const show = () => {
    const theme = THEMES[chosen];
    if (theme === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
    button.textContent = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    chosen = (chosen + 1) % THEMES.length;
    show();
  });
  show();
  return button;
}
