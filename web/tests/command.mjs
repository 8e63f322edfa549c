// Runs the command in a folder of its own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const binary = resolve(process.env.HEADWATER ?? "build/release/headwater");

export class Folder {
  constructor() {
    this.path = mkdtempSync(join(tmpdir(), "headwater-pages-"));
  }
  run(...words) {
    return execFileSync(binary, words.map(String), { cwd: this.path, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }
  write(name, text) {
    writeFileSync(join(this.path, name), text);
    return name;
  }
  address(name) {
    return `file://${join(this.path, name)}`;
  }
  facts(model) {
    return JSON.parse(this.run("show", model, "--json"));
  }
  basis(model) {
    return this.run("show", model, "--basis").trim().split("\n").map((line) => line.split(",").map(Number));
  }
  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }
}
