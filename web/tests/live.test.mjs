// The live page of fit --serve in a browser: it follows a pipe, and ends with the numbers of the model.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { assertFitsTheWindow, launch, open, seeAll, seriousFaults } from "./browser.mjs";
import { Folder } from "./command.mjs";

let browser;
let folder;
let fit;
let address;

const kHeader = "<img src=x onerror=alert(1)>,south,\"far, east\"\n";
const rows = (count) => Array.from({ length: count }, (_row, t) => `${(t * 7) % 5},${(t * 3) % 4},${t % 11 === 0 ? "" : t % 6}\n`).join("");

before(async () => {
  folder = new Folder();
  browser = await launch();
  fit = spawn(resolve(process.env.HEADWATER ?? "build/release/headwater"),
    ["fit", "-", "--components", "2", "--prior", "gamma", "--engine", "particle", "--particles", "50", "--start-on", "200",
     "--out", "model.h5", "--serve", "0"], { cwd: folder.path, stdio: ["pipe", "ignore", "pipe"] });
  for await (const line of createInterface({ input: fit.stderr })) {
    address = line.match(/watched at (\S+)$/)?.[1];
    if (address) break;
  }
  fit.stderr.resume();
});

after(async () => {
  await browser?.close();
  if (fit && fit.exitCode === null) fit.kill("SIGKILL");
  folder?.remove();
});

test("it follows the stream, without a complaint, and can be used by everybody", async () => {
  const { page, complaints, close } = await open(browser, address, { mayAsk: (url) => url === `${address}events` });
  const figure = (name) => page.getAttribute(`[data-figure=${name}] data`, "value").then(Number);
  assert.match(await page.textContent("[role=status]"), /Collecting observations/);
  fit.stdin.write(kHeader + rows(2000));
  await page.waitForFunction(() => Number(document.querySelector("[data-figure=observations] data").value) > 1000);
  await page.waitForSelector(".heat-frame canvas");
  await seeAll(page);
  assert.equal(await page.locator("#sources .plot").count(), 2);
  assert.equal(await page.$$eval("img", (items) => items.length), 0);
  assert.deepEqual(await seriousFaults(page), []);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/live.png`, fullPage: true });

  const narrow = await open(browser, address, { width: 360, scheme: "dark", mayAsk: (url) => url === `${address}events` });
  await seeAll(narrow.page);
  assert.deepEqual(await seriousFaults(narrow.page), []);
  await assertFitsTheWindow(narrow.page);
  await narrow.close();

  fit.stdin.end(rows(1000));
  await page.waitForFunction(() => document.querySelector("[role=status]").textContent.startsWith("The stream has ended"));
  await new Promise((done) => (fit.exitCode === null ? fit.once("exit", done) : done()));
  const facts = folder.facts("model.h5");
  assert.equal(await figure("observations"), facts.observations);
  assert.equal(facts.observations, 3000);
  assert.equal(await figure("log_likelihood"), facts.log_likelihood);
  for (const [name, value] of Object.entries(facts.prior.parameters)) {
    assert.equal(Number(await page.getAttribute(`[data-parameter="${name}"] data`, "value")), value, name);
  }
  assert.deepEqual(complaints, []);
  await close();
});
