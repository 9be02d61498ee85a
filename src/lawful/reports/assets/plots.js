// Order laws as points; those that are out of order are crosses, with a line to a point that each is swapped with.

const PLOT = { width: 300, height: 190, left: 8, right: 8, top: 8, bottom: 8 };

function plotsSection() {
  const orders = laws.kinds.some((kind) => ["canonical-od", "list-od", "pod"].includes(kind));
  if (!page.plots.length) {
    if (!orders) return null;
    return section("orders", "Orders", "swap", make("p", { class: "muted" }, "There are no points to draw: make the page with --table to see them."));
  }
  return section("orders", "Orders", "swap", make("div", { class: "plots" }, page.plots.map(plotFigure)));
}

function plotFigure(plot) {
  const x = axis(plot.points.map((point) => point[0]), PLOT.left, PLOT.width - PLOT.right);
  const y = axis(plot.points.map((point) => point[1]), PLOT.height - PLOT.bottom, PLOT.top);
  const wrong = new Set(plot.swaps.map(([place]) => place));
  const words = `${plot.out_of_order ? counted(plot.out_of_order, "row") : "No row"} out of order of ${count(plot.drawn_from)}`;
  const picture = draw("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": `${visible(columnName(plot.x.column))} against ${visible(columnName(plot.y.column))}. ${words}` });
  picture.append(draw("rect", { class: "plot-back", x: 0.5, y: 0.5, width: PLOT.width - 1, height: PLOT.height - 1, rx: 3 }));
  for (const [from, to] of plot.swaps) {
    const [a, b] = [plot.points[from], plot.points[to]];
    picture.append(draw("line", { class: "swap", x1: x(a[0]), y1: y(a[1]), x2: x(b[0]), y2: y(b[1]) }));
  }
  plot.points.forEach((point, place) => {
    if (!wrong.has(place)) picture.append(draw("circle", { class: "point", cx: x(point[0]), cy: y(point[1]), r: 2.2 }, pointTitle(point)));
  });
  for (const place of wrong) {
    const [cx, cy] = [x(plot.points[place][0]), y(plot.points[place][1])];
    picture.append(draw("path", { class: "cross", d: `M${cx - 4},${cy - 4} l8,8 m0,-8 l-8,8` }, pointTitle(plot.points[place])));
  }
  const within = plot.within.length ? make("p", { class: "within" }, "where ", plot.within.map(([name, value]) => cellFact(name, value))) : null;
  const drawn = plot.points.length < plot.drawn_from ? `; ${count(plot.points.length)} are drawn` : "";
  const sampled = plot.is_sampled ? ", a sample" : "";
  const status = badge(laws.status[plot.law], true);
  return make(
    "figure",
    {},
    make("figcaption", {}, status, lawButton(plot.law, laws.text[plot.law])),
    within,
    make("div", { class: "plot" }, make("span", { class: "y-name" }, axisName(plot.y)), picture, make("span", { class: "x-name" }, axisName(plot.x))),
    make("p", { class: plot.out_of_order ? "out" : "muted" }, `${words}${sampled}${drawn}.`),
  );
}

function axisName(axis) {
  const scale = axis.scale === "rank" ? " (in order)" : "";
  return `${visible(columnName(axis.column))}${scale} →`;
}

function pointTitle(point) {
  return draw("title", {}, `${visible(point[2])}, ${visible(point[3])} (${visible(point[4])})`);
}

/** A scale from values to the picture, with a little room at both ends. */
function axis(values, begin, end) {
  const least = Math.min(...values);
  const range = Math.max(...values) - least || 1;
  const room = (end - begin) * 0.03;
  return (value) => Math.round(10 * (begin + room + ((value - least) / range) * (end - begin - 2 * room))) / 10;
}
