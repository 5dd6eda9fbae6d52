// Shared by all parts: the data of the page, elements, and numbers as people read them.

const DATA = JSON.parse(document.getElementById("report-data").textContent);
const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);

/** Make an element; children are elements or text, which is never read as markup. */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A name whose line may break after an underscore or a colon. */
const breakable = (name) => name.split(/(?<=[_:])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));

function makeSvg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A number to four significant digits, thousands apart, with a real minus sign. */
function formatNumber(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "—";
  const size = Math.abs(value);
  let text;
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) text = Number(value.toPrecision(digits)).toExponential().replace("e+", "e");
  else if (size >= 10 ** digits) text = String(Math.round(Number(value.toPrecision(digits))));
  else text = String(Number(value.toPrecision(digits)));
  if (size >= 1e4 && size < 1e9) text = text.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, "\u202f");
  return text.replaceAll("-", "−");
}

const signedNumber = (value, digits = 3) => (value > 0 ? "+" : "") + formatNumber(value, digits);

const percent = (share, digits = 1) => (100 * share).toFixed(digits) + "\u202f%";

/** Run a drawing once per frame, however often it is asked for. */
function oncePerFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}
