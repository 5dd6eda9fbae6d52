// What the model says along one column, and the nearest value of it at which the model changes its mind.

const HAS_CLASSES = DATA.classes.length > 0;
const SCAN = 32;
const ROUNDS = 32; // of bisection: a step of the scan, and ten digits of it

/** What the model said: probabilities in the order of the classes and a decision, or a prediction; null if refused. */
function outcomeFrom(answer) {
  if (!HAS_CLASSES) return answer.prediction === null ? null : { prediction: answer.prediction, answer };
  if (answer.label === null) return null;
  const p = MODEL.labels.map((label) => answer.probabilities[label]);
  return { p, decided: MODEL.labels.indexOf(answer.label), answer };
}

/** The outcome of a state with one value changed. One row serves all questions, since there are thousands a second. */
function askerOf(values) {
  const row = rowOf(values);
  return (i, value) => {
    const name = CONTROLS[i].name;
    const old = row[name];
    row[name] = rawValue(i, value);
    const outcome = outcomeFrom(MODEL.predict(row));
    row[name] = old;
    return outcome;
  };
}

/** By how much an outcome is on the side of a reference, between −1 and 1; null where the model refuses the row. */
function leadOf(outcome, reference) {
  if (outcome === null) return null;
  if (!HAS_CLASSES) return Math.max(-1, Math.min(1, (2 * (outcome.prediction - reference.goal)) / DATA.reach));
  if (DATA.threshold !== null) {
    const lead = outcome.p[1] - DATA.threshold;
    return lead >= 0 ? lead / (1 - DATA.threshold || 1) : lead / (DATA.threshold || 1);
  }
  const others = outcome.p.filter((_, c) => c !== reference.decided);
  return outcome.p[reference.decided] - Math.max(...others);
}

/** Which side an outcome is on; two outcomes on different sides are different answers. */
function sideOf(outcome, reference) {
  if (outcome === null) return null;
  return HAS_CLASSES ? outcome.decided : outcome.prediction >= reference.goal;
}

/** Scan a column of numbers over its training range: the leads for the strip and the points with their sides. */
function scan(ask, i, reference) {
  const control = CONTROLS[i];
  const steps = stepsOf(control);
  return Array.from({ length: SCAN + 1 }, (_, k) => {
    const x = control.whole ? valueAt(control, Math.round((k * steps) / SCAN)) : exactAt(control, (k * steps) / SCAN);
    const outcome = ask(i, x);
    return { x, lead: leadOf(outcome, reference), side: sideOf(outcome, reference) };
  });
}

/** The nearest value of a scanned column on another side than here, confirmed by the model; null if there is none. */
function nearestNumber(ask, i, here, points, reference) {
  if (here === null) return null;
  const control = CONTROLS[i];
  const isOther = (side) => side !== null && side !== reference.side;
  const flips = (x) => isOther(sideOf(ask(i, x), reference));
  let best = null;
  for (const direction of [-1, 1]) {
    const path = points.filter((p) => direction * (p.x - here) > 0).sort((a, b) => direction * (a.x - b.x));
    const first = path.findIndex((p) => isOther(p.side));
    if (first < 0) continue;
    let near = first === 0 ? here : path[first - 1].x;
    let far = path[first].x;
    for (let round = 0; round < ROUNDS; round++) {
      const middle = near + (far - near) / 2;
      if (flips(middle)) far = middle;
      else near = middle;
    }
    const x = readable(control, here, far, path[first].x, flips);
    if (x === null) continue;
    const distance = Math.abs(x - here) / control.deviation;
    if (flips(x) && (best === null || distance < best.distance)) best = { i, value: x, distance };
  }
  return best;
}

/**
 * Round a crossing away from where the row is: to the multiples that the column holds, null where none of the training
 * range flips; else to the fewest digits that still flip and stay on the way to `end`.
 */
function readable(control, here, crossing, end, flips) {
  const up = crossing > here;
  const round = up ? Math.ceil : Math.floor;
  const onTheWay = (x) => (up ? x >= crossing && x <= end : x <= crossing && x >= end);
  if (control.unit > 0) {
    const side = up ? 1 : -1;
    const place = round((crossing - control.origin) / control.unit - side * 1e-9);
    // a level flips just beyond its number; and a unit of 0.1 is no exact double: the last digits of a product are noise
    const near = [place, place + side].map((k) => Number((k * control.unit + control.origin).toPrecision(14)));
    return near.find((x) => x >= control.low && x <= control.high && flips(x)) ?? null;
  }
  for (let digits = 2; digits < 12; digits++) {
    const unit = 10 ** (Math.floor(Math.log10(Math.abs(crossing - here) || 1)) - digits);
    const x = Number((round(crossing / unit) * unit).toPrecision(14));
    if (onTheWay(x) && flips(x)) return x;
  }
  return crossing;
}

/** The level of a column on another side about which the model is surest; null if there is none. */
function nearestLevel(ask, i, here, reference) {
  let best = null;
  CONTROLS[i].levels.forEach((_, level) => {
    if (level === here) return;
    const outcome = ask(i, level);
    if (outcome === null || sideOf(outcome, reference) === reference.side) return;
    const surety = HAS_CLASSES ? outcome.p[outcome.decided] : Math.abs(outcome.prediction - reference.goal);
    if (best === null || surety > best.surety) best = { i, value: level, distance: 1, surety };
  });
  return best;
}
