// On paper nothing can be unfolded, so everything is unfolded before.

let folded = [];

addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = true;
});

addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
});

byId("print").addEventListener("click", () => print());
