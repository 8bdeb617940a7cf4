// Light or dark: the browser's preference, or the user's choice on any page. Invariant: the theme is set before anything
// is drawn; the document's event `themechange` follows every change.

const THEME_KEY = "opsgym-theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function storedTheme() {
  try {
    return localStorage.getItem(THEME_KEY);
  } catch { // storage is disabled for this page
    return null;
  }
}

function applyTheme(choice) {
  const dark = choice ? choice === "dark" : prefersDark.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const button = document.getElementById("theme");
  if (button) button.textContent = dark ? "Light" : "Dark";
  document.dispatchEvent(new Event("themechange"));
}

document.getElementById("theme")?.addEventListener("click", () => {
  const choice = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(THEME_KEY, choice);
  } catch { // the choice lasts until the page is closed
  }
  applyTheme(choice);
});
prefersDark.addEventListener("change", () => applyTheme(storedTheme()));
applyTheme(storedTheme());
