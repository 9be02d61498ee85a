// The page, from top to bottom.

const CONTENTS = {
  broken: "Broken and almost",
  columns: "Columns",
  short: "In short",
  laws: "All laws",
  matrix: "Matrix",
  graph: "Graph",
  orders: "Orders",
  life: "Life",
  settings: "Settings",
  definitions: "Definitions",
};

function showContents(sections) {
  const links = sections.filter((each) => each.id in CONTENTS).map((each) => make("li", {}, make("a", { href: `#${each.id}` }, CONTENTS[each.id])));
  document.getElementById("contents").append(make("ul", {}, links));
}

function listenForKeys() {
  document.addEventListener("keydown", (event) => {
    const isTyping = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey || !lawList.search) return;
    event.preventDefault();
    lawList.search.focus();
    document.getElementById("laws").scrollIntoView();
  });
}

showHead();
const sections = [
  summary(),
  brokenSection(),
  columnsSection(),
  shortSection(),
  lawList.section(),
  matrixSection(),
  graphSection(),
  plotsSection(),
  lifeSection(),
  settingsSection(),
  definitionsSection(),
].filter(Boolean);
document.getElementById("main").replaceChildren(...sections);
if (lawCount) lawList.update();
showContents(sections);
listenForKeys();
document.getElementById("foot").append("Made by lawful. This file is whole: nothing is loaded, and nothing leaves your browser.");
document.documentElement.dataset.ready = "yes";
