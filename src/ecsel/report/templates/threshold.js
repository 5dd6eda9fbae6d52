// What another threshold would do on the judged rows, and what it would cost.

function startThresholds({ values, own, hits, alarms, positives, negatives }) {
  const slider = byId("threshold-slider");
  const costs = () => ["00", "01", "10", "11"].map((cell) => byId(`cost-${cell}`).valueAsNumber || 0);
  const cells = (k) => [negatives - alarms[k], alarms[k], positives - hits[k], hits[k]];
  const meanCost = (k, prices) => cells(k).reduce((so, n, i) => so + n * prices[i], 0) / (positives + negatives);

  /** The cheapest threshold; of equals, that nearest to the model's own. */
  function cheapest(prices) {
    let best = own;
    values.forEach((_, k) => {
      const gain = meanCost(best, prices) - meanCost(k, prices);
      if (gain > 1e-12 || (gain > -1e-12 && Math.abs(k - own) < Math.abs(best - own))) best = k;
    });
    return best;
  }

  function draw() {
    const k = Number(slider.value);
    const prices = costs();
    const output = byId("threshold-value");
    output.value = formatNumber(values[k]);
    output.dataset.threshold = String(values[k]);
    slider.setAttribute("aria-valuetext", formatNumber(values[k]));
    const now = cells(k);
    ["00", "01", "10", "11"].forEach((cell, i) => {
      byId(`cell-${cell}`).textContent = String(now[i]);
    });
    const [, falseAlarms, misses, found] = now;
    const decided = found + falseAlarms;
    const share = (n, of) => (of ? percent(n / of) : "—");
    byId("threshold-rates").textContent =
      `Found ${share(found, found + misses)} of ${DATA.classes[1]}; ` +
      `right in ${share(found, decided)} of those decisions; wrong alarms for ${share(falseAlarms, negatives)} of ${DATA.classes[0]}.`;
    const best = cheapest(prices);
    const cost = byId("threshold-cost");
    cost.textContent = `Mean cost of a row: ${formatNumber(meanCost(k, prices))}; at best ${formatNumber(meanCost(best, prices))}, at the threshold ${formatNumber(values[best])}.`;
    cost.dataset.cost = String(meanCost(k, prices));
    cost.dataset.best = String(values[best]);
    drawCosts(k, best, prices);
  }

  function drawCosts(k, best, prices) {
    const heights = values.map((_, i) => meanCost(i, prices));
    const [low, high] = [Math.min(0, ...heights), Math.max(...heights)];
    const x = (value) => 8 + 344 * value;
    const y = (cost) => 104 - (90 * (cost - low)) / (high - low || 1);
    const points = values.map((value, i) => `${x(value).toFixed(1)},${y(heights[i]).toFixed(1)}`).join(" ");
    const dot = (i, radius, kind) =>
      makeSvg("path", { d: `M${x(values[i])} ${y(heights[i])}h0`, "stroke-width": 2 * radius, class: `dots ${kind}` });
    const text = (at, words, kind) => makeSvg("text", { x: at, y: 122, class: kind }, words);
    byId("cost-chart").replaceChildren(
      makeSvg("line", { x1: 8, x2: 352, y1: 104, y2: 104, class: "grid" }),
      makeSvg("polyline", { points, class: "line c0" }),
      dot(best, 5, "ring"),
      dot(best, 3.2, "hole"),
      dot(k, 4.5, "c0"),
      text(8, "0", "tick"),
      text(180, "mean cost by threshold; ring: the cheapest", "tick middle"),
      text(352, "1", "tick end"),
    );
  }

  const redrawThreshold = oncePerFrame(draw);
  slider.addEventListener("input", redrawThreshold);
  for (const cell of ["00", "01", "10", "11"]) byId(`cost-${cell}`).addEventListener("input", redrawThreshold);
  const moveTo = (k) => {
    slider.value = String(k);
    redrawThreshold();
  };
  byId("threshold-own").addEventListener("click", () => moveTo(own));
  byId("threshold-best").addEventListener("click", () => moveTo(cheapest(costs())));
  draw();
}

if (DATA.thresholds) startThresholds(DATA.thresholds);
