"use strict";
// Plots are data in the page; this draws them in the page's colors. With data-refresh, it also renews the page.

function themed({ data, layout }) {
  const { color, backgroundColor } = getComputedStyle(document.body);
  for (const trace of data) if (trace.textfont) trace.textfont.color = color;
  const axes = Object.keys(layout).filter((key) => /^[xy]axis/.test(key));
  for (const key of axes) layout[key].fixedrange = true; // a finger on a plot scrolls the page
  for (const text of layout.annotations ?? []) text.bgcolor = backgroundColor; // over grid lines
  return { ...layout, dragmode: false, font: { ...layout.font, color } };
}

function draw() {
  for (const plot of document.querySelectorAll(".plot")) {
    const figure = JSON.parse(document.getElementById(plot.id + "-data").textContent);
    Plotly.react(plot, figure.data, themed(figure), { displayModeBar: false, responsive: true });
  }
}

async function copy(button) {
  const text = document.getElementById("config");
  getSelection().selectAllChildren(text); // where the clipboard is closed to us, it is one key away
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Selected";
  }
}

function notice(text) {
  const bar = document.getElementById("notice");
  bar.textContent = text;
  bar.hidden = !text;
}

async function renew() {
  const text = await (await fetch("/")).text();
  const next = new DOMParser().parseFromString(text, "text/html").querySelector("main");
  const main = document.querySelector("main");
  const folds = main.querySelectorAll("details");
  const newFolds = next.querySelectorAll("details");
  if (folds.length === newFolds.length) newFolds.forEach((fold, i) => (fold.open = folds[i].open));
  const [x, y] = [scrollX, scrollY];
  main.replaceWith(next);
  draw();
  scrollTo(x, y);
}

async function check() {
  try {
    const state = await (await fetch("/state")).json();
    if (state.state !== document.querySelector("main").dataset.state) await renew();
    notice(state.problem);
  } catch {
    notice("The server does not answer: this is what it last said.");
  }
  setTimeout(check, 1000 * document.body.dataset.refresh);
}

draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
document.addEventListener("click", (event) => event.target.id === "copy" && copy(event.target));
if (document.body.dataset.refresh) setTimeout(check, 1000 * document.body.dataset.refresh);
