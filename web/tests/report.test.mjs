// headwater report in a browser: the reports of seven models, each of another kind. HEADWATER is the command.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { assertFitsTheWindow, launch, open, seeAll, seriousFaults } from "./browser.mjs";
import { Folder } from "./command.mjs";

const kHostile = [
  "<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "<!--", "שלום עולם \u202e abc",
  "a very long name ".repeat(40).trim(), "it's & quoted;", "{{x}} ${x} \\u003c", "emoji 🐟 and accents éü",
];
const quoted = (names) => names.map((name) => `"${name.replaceAll('"', '""')}"`).join(",");

// Counts that follow from their place alone.
function someCounts(rows, columns, at = (t, m) => (t * 7 + m * 3 + ((t * m) % 5)) % (4 + (m % 3))) {
  return Array.from({ length: rows }, (_row, t) => Array.from({ length: columns }, (_cell, m) => at(t, m)));
}
const asCsv = (rows, header) => [...(header ? [header] : []), ...rows.map((row) => row.join(","))].join("\n") + "\n";
const hour = (t) => new Date(Date.UTC(2024, 0, 1) + t * 3600e3).toISOString().slice(0, 19);

let folder;
let browser;
const models = {};

// A model, its data and its report.
function make(name, { data, fit, report = [], alone = false }) {
  folder.run("fit", data, ...fit, "--seed", 3, "--out", `${name}.h5`, "--quiet");
  folder.run("report", `${name}.h5`, ...(alone ? [] : [data]), "--out", `${name}.html`, "--quiet", ...report);
  models[name] = { model: `${name}.h5`, page: `${name}.html` };
}

before(async () => {
  folder = new Folder();
  folder.run("simulate", "--prior", "basis-selection", "--channels", 6, "--components", 3, "--length", 900,
    "--seed", 5, "--out", "plain.csv", "--save-basis", "truth.csv", "--quiet");
  make("plain", { data: "plain.csv", fit: ["--components", 3, "--prior", "basis-selection", "--restarts", 3, "--standard-errors"],
                  report: ["--truth", "truth.csv", "--state", "plain.json"] });
  const gaps = someCounts(24 * 14, kHostile.length,
    (t, m) => (t % 17 === m ? "" : ((t + m) % 24 < 8 ? 6 : 1) + ((t * m) % 3)));
  folder.write("hostile.csv", asCsv(gaps.map((row, t) => [hour(t), ...row]), `when,${quoted(kHostile)}`));
  make("hostile", { data: "hostile.csv", fit: ["--time-column", "when", "--components", 2, "--prior", "gamma", "--period", 24, "--background"],
                    report: ["--time-column", "when"] });
  folder.write("profile.csv", "1.6,1.4,1.2,0.8,0.6,0.4\n0.4,0.6,0.8,1.2,1.4,1.6\n");
  folder.run("simulate", "--prior", "basis-selection", "--channels", 4, "--components", 2, "--period", 6, "--profile", "profile.csv",
    "--length", 2400, "--seed", 5, "--out", "tide.csv", "--quiet");
  make("tide", { data: "tide.csv", fit: ["--components", 2, "--prior", "basis-selection", "--counts", "poisson", "--period", 6, "--start-on", 300, "--standard-errors"] });
  folder.write("one.csv", asCsv(someCounts(300, 1)));
  make("one", { data: "one.csv", fit: ["--components", 1, "--prior", "log-gaussian", "--engine", "particle", "--particles", 100],
                report: ["--engine", "particle", "--particles", 100] });
  folder.write("wide.csv", asCsv(someCounts(60, 1000)));
  make("wide", { data: "wide.csv", fit: ["--components", 4, "--prior", "independent", "--init", "random", "--counts", "poisson"] });
  folder.write("few.csv", asCsv(someCounts(200, 4)));
  make("alone", { data: "few.csv", fit: ["--components", 2, "--prior", "relaxed-selection", "--method", "batch", "--iterations", 5], alone: true });
  make("choices", { data: "few.csv", fit: ["--components", "1..2", "--prior", "auto"] });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  folder?.remove();
});

const kNames = ["plain", "hostile", "one", "wide", "alone", "choices", "tide"];

describe("every report", () => {
  for (const name of kNames) {
    test(`${name}: no complaint, no request, no serious fault; the numbers and warnings of show --json`, async () => {
      const { page, complaints, close } = await open(browser, folder.address(models[name].page));
      await seeAll(page);
      const facts = folder.facts(models[name].model);
      for (const field of ["components", "channels", "observations", "log_likelihood"]) {
        const shown = await page.getAttribute(`[data-figure=${field}] data`, "value");
        assert.equal(Number(shown), facts[field], field);
      }
      for (const [parameter, value] of Object.entries(facts.prior.parameters)) {
        if (typeof value !== "number") continue;
        const shown = await page.getAttribute(`[data-parameter="${parameter}"] data`, "value");
        assert.equal(Number(shown), value, parameter);
      }
      assert.equal(await page.textContent("[data-option=seed]"), String(facts.seed));
      const notes = (await page.$$eval("#summary .note", (items) => items.map((item) => item.textContent))).join(" ").toLowerCase();
      for (const warning of facts.warnings) assert.ok(notes.includes(warning.toLowerCase()), warning);
      assert.deepEqual(complaints, []);
      assert.deepEqual(await seriousFaults(page), [], "wide and light");
      await assertFitsTheWindow(page);
      await close();
    });

    test(`${name}: axe finds no serious fault, narrow and dark`, async () => {
      const { page, close } = await open(browser, folder.address(models[name].page), { width: 360, scheme: "dark" });
      await seeAll(page);
      assert.deepEqual(await seriousFaults(page), []);
      await assertFitsTheWindow(page);
      await close();
    });
  }
});

test("a report that is printed has every chart, also those that were never scrolled to", async () => {
  const { page, complaints, close } = await open(browser, folder.address(models.hostile.page));
  const drawn = () => page.$$eval(".chart", (charts) => charts.filter((chart) => chart.querySelector("canvas")).length);
  const charts = await page.$$eval(".chart", (found) => found.length);
  assert.ok(await drawn() < charts, "charts far down wait");
  await page.pdf();
  assert.equal(await drawn(), charts);
  assert.deepEqual(complaints, []);
  await close();
});

test("the strongest channels of a source are those of the basis", async () => {
  const { page, close } = await open(browser, folder.address(models.plain.page));
  const basis = folder.basis(models.plain.model);
  for (let k = 0; k < 3; ++k) {
    const shown = await page.$$eval(`[data-source="${k + 1}"] .bars li`, (items) => items.map((item) =>
      [item.querySelector("bdi").textContent, Number(item.querySelector("data").value)]));
    const expected = basis.map((row, m) => [String(m + 1), row[k]]).sort((a, b) => b[1] - a[1]);
    assert.deepEqual(shown.map(([channel]) => channel), expected.map(([channel]) => channel));
    shown.forEach(([, value], i) => assert.ok(Math.abs(value - expected[i][1]) <= 1e-5 * expected[i][1] + 1e-300));
  }
  const shares = await page.$$eval("#sources .share data", (items) => items.map((item) => Number(item.value)));
  assert.ok(Math.abs(shares.reduce((a, b) => a + b, 0) - 1) < 1e-9, "shares sum to 1");
  assert.deepEqual(shares, [...shares].sort((a, b) => b - a), "the largest share comes first");  // no background
  await close();
});

test("standard errors are those of the model, and their figures stay in the card", async () => {
  const errors = folder.facts(models.plain.model).standard_errors.basis;
  for (const width of [1280, 360]) {
    const { page, close } = await open(browser, folder.address(models.plain.page), { width });
    for (let k = 0; k < 3; ++k) {
      const items = await page.$$eval(`[data-source="${k + 1}"]`, ([card]) => [...card.querySelectorAll(".bars li")].map((item) => ({
        channel: Number(item.querySelector("bdi").textContent), text: item.querySelector("data").textContent,
        isInside: item.querySelector("data").scrollWidth <= item.querySelector("data").clientWidth + 1
          && item.querySelector("data").getBoundingClientRect().right <= card.getBoundingClientRect().right,
      })));
      for (const { channel, text, isInside } of items) {
        const shown = Number(text.split("±")[1].trim().replace("e−", "e-"));
        const expected = 2 * errors[channel - 1][k];
        assert.ok(Math.abs(shown - expected) <= 0.06 * expected, `${text}: ${expected}`);
        assert.ok(isInside, `${text} at width ${width}`);
      }
    }
    await close();
  }
});

test("profiles have bands where their standard errors are known", async () => {
  const known = folder.facts(models.tide.model);
  assert.equal(known.standard_errors.profiles[0].length, 2);
  const { page, close } = await open(browser, folder.address(models.tide.page));
  await seeAll(page);
  const charts = page.locator('[aria-label^="Gain of source 1"]');
  assert.equal(await charts.count(), 1);
  await charts.focus();
  await page.keyboard.press("ArrowRight");
  const text = await page.locator('[data-source="1"] .chart', { has: charts }).locator(".readout").textContent();
  const phase = Number(text.match(/phase (\d+)/)[1]);
  const [gain, error] = [known.periods[0].profile[0][phase], known.standard_errors.profiles[0][0][phase]];
  const numbers = text.replaceAll("−", "-").split(":").slice(1).join(" ").match(/-?[\d.]+(e-?\d+)?/g).map(Number);
  for (const value of [gain, Math.max(gain - 2 * error, 0), gain + 2 * error]) {
    assert.ok(numbers.some((shown) => Math.abs(shown - value) <= 0.006 * value + 1e-3), `${text}: ${value}`);
  }
  await close();
});

test("a source says how many of the fits have found it", async () => {
  const { page, close } = await open(browser, folder.address(models.plain.page));
  const { restarts, found } = folder.facts(models.plain.model).stability;
  assert.equal(restarts, 3);
  for (let k = 0; k < 3; ++k) {
    const line = page.locator(`[data-source="${k + 1}"] .stability`);
    assert.equal(Number(await line.getAttribute("data-found")), found[k]);
    assert.match(await line.textContent(), new RegExp(`found by ${found[k]} of 3 fits`));
    assert.equal(await line.evaluate((item) => item.classList.contains("unsure")), 2 * (found[k] - 1) <= 2);
  }
  await close();
  const other = await open(browser, folder.address(models.one.page));
  assert.equal(await other.page.locator(".stability").count(), 0);
  await other.close();
});

// The rows of a table of scores, as numbers; the row that others are compared with has no difference.
const scoresIn = (page, section) => page.$$eval(`#${section} tbody tr`, (rows) => rows.map((row) => ({
  name: row.querySelector("th").textContent,
  chosen: row.classList.contains("chosen"),
  ...Object.fromEntries([...row.querySelectorAll("[data-score]")].map((cell) =>
    [cell.dataset.score, cell.querySelector("data") ? Number(cell.querySelector("data").value) : null])),
})));

test("the tables of choices are those of show --json", async () => {
  const { page, close } = await open(browser, folder.address(models.choices.page));
  const facts = folder.facts(models.choices.model);
  const best = Math.max(...facts.choice_of_components.map((row) => row.score));
  const taken = facts.choice_of_prior.find((row) => row.chosen).score;
  for (const [section, rows, name, reference] of [["components", facts.choice_of_components, "components", best],
                                                   ["priors", facts.choice_of_prior, "prior", taken]]) {
    const shown = await scoresIn(page, section);
    assert.equal(shown.length, rows.length);
    assert.equal(shown.filter((row) => row.difference === null).length, 1, "one row is what others are compared with");
    rows.forEach((row, i) => {
      assert.equal(shown[i].name, String(row[name]));
      assert.equal(shown[i].score, row.score);
      assert.equal(shown[i].chosen, row.chosen);
      if (row.score === reference) return;
      assert.equal(shown[i].difference, row.score - reference);
      assert.equal(shown[i].standard_error, row.standard_error);
    });
  }
  assert.equal(facts.choice_of_prior.length, 5);
  await close();
});

test("hostile names are text, wherever they are", async () => {
  const { page, complaints, close } = await open(browser, folder.address(models.hostile.page));
  await seeAll(page);
  const names = new Set(await page.$$eval(".bars bdi", (items) => items.map((item) => item.textContent)));
  const known = new Set(kHostile);
  assert.equal(names.size, kHostile.length);
  for (const name of names) assert.ok(known.has(name), name);
  assert.equal(await page.$$eval("img, iframe, object, embed", (items) => items.length), 0);
  assert.equal(await page.$$eval("script", (items) => items.length), 2);
  assert.match(await page.textContent("#summary"), /cells are missing/);
  assert.match(await page.textContent("#surprises"), /2024-01-/);
  assert.deepEqual(complaints, []);
  await close();
});

test("charts zoom together: by keys, by buttons and by dragging", async () => {
  const { page, close } = await open(browser, folder.address(models.plain.page));
  const charts = page.locator("#sources .plot");
  await seeAll(page);
  const range = async (i) => charts.nth(i).evaluate((plot) => [Number(plot.dataset.from), Number(plot.dataset.to)]);
  assert.deepEqual(await range(0), [1, 900]);
  await charts.nth(0).focus();
  await page.keyboard.press("+");
  const [from, to] = await range(0);
  assert.ok(Math.abs(to - from - 899 / 2) < 1e-9);
  assert.deepEqual(await range(1), [from, to]);
  await page.keyboard.press("Shift+ArrowRight");
  assert.ok((await range(0))[0] > from);
  await page.keyboard.press("0");
  assert.deepEqual(await range(2), [1, 900]);

  await page.locator("#sources button[aria-label='Zoom in']").click();
  assert.ok(Math.abs((await range(0))[1] - (await range(0))[0] - 899 / 2) < 1e-9);
  await page.locator("#sources button[aria-label='Show all']").click();

  const over = charts.nth(0).locator(".u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 4 });
  await page.mouse.up();
  const [left, right] = await range(1);
  assert.ok(Math.abs(left - 225.75) < 5 && Math.abs(right - 450.5) < 5, `${left} to ${right}`);
  await over.dblclick();
  assert.deepEqual(await range(0), [1, 900]);
  await close();
});

test("the keyboard reads values: of a chart, of the basis, of the forecast", async () => {
  const { page, close } = await open(browser, folder.address(models.plain.page));
  await seeAll(page);
  await page.locator("#sources .plot").nth(0).focus();
  for (let i = 0; i < 6; ++i) await page.keyboard.press("+");
  await page.keyboard.press("ArrowRight");
  const first = await page.locator("#sources .readout").nth(0).textContent();
  await page.keyboard.press("ArrowRight");
  const second = await page.locator("#sources .readout").nth(0).textContent();
  assert.match(first, /^observation \d+: /);
  assert.equal(Number(second.match(/\d+/)[0]), Number(first.match(/\d+/)[0]) + 1);

  await page.locator(".heat-frame").nth(0).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const basis = folder.basis(models.plain.model);
  const [, channel, source, value] = (await page.locator("#basis .readout").textContent())
    .match(/channel (\d+), source (\d+): ([\d.e−]+) counts/);
  const expected = basis[channel - 1][source - 1];
  assert.ok(Math.abs(Number(value.replace("−", "-")) - expected) <= 6e-4 * expected);

  await page.selectOption("#forecast select", "2");
  assert.equal(await page.locator("#forecast .plot").getAttribute("data-from") !== null, true);
  await close();
});

test("every element that can be used is reached by Tab, and shows it", async () => {
  const { page, close } = await open(browser, folder.address(models.alone.page));
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Light or dark");
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.keyboard.press("Enter");
  assert.notEqual(await paper(), light);
  await close();
});

test("without data there is the model alone", async () => {
  const { page, close } = await open(browser, folder.address(models.alone.page));
  const sections = await page.$$eval("section", (items) => items.map((item) => item.id));
  assert.deepEqual(sections, ["summary", "sources", "basis", "estimates", "options"]);
  await close();
});

test("a page for 1,000 channels is small", () => {
  assert.ok(statSync(`${folder.path}/wide.html`).size < 1e6);
});

// docs/screenshots/report.png, in the folder SCREENSHOTS: 18 weeks of a simulated city, and a report on the 8 after them.
test("the picture of README.md", { skip: !process.env.SCREENSHOTS }, async () => {
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
  const city = fileURLToPath(new URL("../../examples/city.py", import.meta.url));
  execFileSync(process.env.PYTHON ?? "/usr/bin/python3", [city, "city.csv"], { cwd: folder.path });
  const [header, ...rows] = readFileSync(`${folder.path}/city.csv`, "utf8").trim().split("\n");
  folder.write("learn.csv", [header, ...rows.slice(0, 3024)].join("\n") + "\n");
  folder.write("later.csv", [header, ...rows.slice(3024)].join("\n") + "\n");
  folder.run("fit", "learn.csv", "--components", 6, "--prior", "basis-selection", "--background", "--per-component", "--out", "city.h5");
  folder.run("report", "city.h5", "later.csv", "--out", "city.html");
  const { page, close } = await open(browser, folder.address("city.html"), { width: 1200 });
  await seeAll(page);
  await page.screenshot({ path: `${process.env.SCREENSHOTS}/report.png`, clip: { x: 0, y: 0, width: 1200, height: 1390 }, fullPage: true });
  await close();
});

// For people's eyes: SCREENSHOTS is a folder.
test("screenshots", { skip: !process.env.SCREENSHOTS }, async () => {
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
  for (const name of kNames) {
    for (const [width, scheme] of [[1280, "light"], [360, "dark"]]) {
      const { page, close } = await open(browser, folder.address(models[name].page), { width, scheme });
      await seeAll(page);
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${width}-${scheme}.png`, fullPage: true });
      await close();
    }
  }
});
