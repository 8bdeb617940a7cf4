// Light or dark: as the browser says, or as somebody chose on any page of the console.

const lookKey = "opsgym-look";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function applyLook() {
  const dark = (remembered() ?? (prefersDark.matches ? "dark" : "light")) === "dark";
  document.documentElement.dataset.look = dark ? "dark" : "light";
  const button = document.getElementById("theme");
  if (button) button.textContent = dark ? "Light" : "Dark";
}

function remembered() {
  try { return localStorage.getItem(lookKey); } catch { return null; }
}

document.getElementById("theme")?.addEventListener("click", () => {
  const next = document.documentElement.dataset.look === "dark" ? "light" : "dark";
  try { localStorage.setItem(lookKey, next); } catch { /* remembered until the page is closed */ }
  document.documentElement.dataset.look = next;
  applyLook();
});
prefersDark.addEventListener("change", applyLook);
applyLook();
