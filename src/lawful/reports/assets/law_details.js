// One law with all that is known of it.

function showLaw(place) {
  const close = make("button", { type: "button", class: "plain" }, "Close");
  const title = lawText(laws.text[place], "h2");
  title.id = "details-title";
  const dialog = make(
    "dialog",
    { class: "details", "aria-labelledby": "details-title" },
    make("div", { class: "row" }, badge(laws.status[place]), close),
    title,
    laws.reading[place] ? make("p", {}, visible(laws.reading[place])) : null,
    make("dl", { class: "facts-list" }, lawFacts(place)),
    brokenOfLaw.has(place) ? make("div", {}, make("h3", {}, "Rows"), brokenRows(brokenOfLaw.get(place)) ?? "They are not on this page.") : null,
  );
  openDialog(dialog, [close]);
}

function lawFacts(place) {
  const broken = brokenOfLaw.get(place) ?? {};
  const known = [
    ["kind", kindWord(kindOf(place)), "law"],
    ["columns", laws.columns[place].map((column) => visible(columnName(column))).join(", ")],
    ["strength", share(laws.strength[place]), "strength"],
    ["interest", share(laws.interest[place]), "interest"],
    ["tested by", laws.tested[place] === null ? "" : counted(laws.tested[place], "pair"), "tested"],
    ["violating rows", count(laws.violating[place]), "violating"],
    ["violating pairs", count(broken.pairs), "pairs"],
    ["rows to remove", count(broken.removals), "removals"],
    ["error", share(laws.error[place]), "error"],
    ["follows from others", follows[place] ? "yes" : "", "folded"],
  ];
  return known.filter(([, text]) => text !== "").map(([name, text, term]) => [
    make("dt", {}, name, term ? termButton(term) : null),
    make("dd", {}, text),
  ]);
}
