// Light or dark: as the browser says, or as somebody chose on any page. Invariant: the page has its look before anything is
// drawn; whoever draws is told of a change by the document's event `look`.

const LOOK = "opsgym-look";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function rememberedLook() {
  try {
    return localStorage.getItem(LOOK);
  } catch { // a browser that keeps nothing for this page
    return null;
  }
}

function applyLook(wanted) {
  const dark = wanted ? wanted === "dark" : prefersDark.matches;
  document.documentElement.dataset.look = dark ? "dark" : "light";
  const button = document.getElementById("theme");
  if (button) button.textContent = dark ? "Light" : "Dark";
  document.dispatchEvent(new Event("look"));
}

document.getElementById("theme")?.addEventListener("click", () => {
  const wanted = document.documentElement.dataset.look === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(LOOK, wanted);
  } catch { // then it holds until the page is closed
  }
  applyLook(wanted);
});
prefersDark.addEventListener("change", () => applyLook(rememberedLook()));
applyLook(rememberedLook());
