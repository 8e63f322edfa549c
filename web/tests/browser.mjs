// A real browser: Debian's chromium, driven by playwright-core.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
}

// Opens a page that may ask for nothing but what `mayAsk` allows, and notes every complaint of the browser.
export async function open(browser, address, { width = 1280, scheme = "light", mayAsk = () => false } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => { complaints.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    const url = request.url();
    if (url !== address && !url.startsWith("data:") && !mayAsk(url)) complaints.push(`a request to ${url}`);
  });
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return { page, complaints, close: () => context.close() };
}

// Draws every chart: they are drawn when they come near the window.
export async function seeAll(page) {
  await page.evaluate(async () => {
    for (const element of document.querySelectorAll(".plot, .heat-frame")) {
      element.scrollIntoView({ behavior: "instant", block: "center" });
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
    scrollTo({ top: 0, behavior: "instant" });
  });
}

export async function seriousFaults(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

export async function assertFitsTheWindow(page) {
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(beyond <= 0, `the page is ${beyond} pixels wider than the window`);
}
