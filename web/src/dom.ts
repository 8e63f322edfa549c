// Elements and numbers. Texts that come with the data are only ever put in as text.

type Child = Node | string | number | null | undefined | false;
type Attributes = { [name: string]: string | number | boolean | undefined | ((event: Event) => void) };

const kSvg = "http://www.w3.org/2000/svg";

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[Name] {
  return fill(document.createElement(name), attributes, children);
}

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[Name] {
  return fill(document.createElementNS(kSvg, name), attributes, children) as SVGElementTagNameMap[Name];
}

const kMinus = "\u2212";
const withMinus = (text: string) => text.replace(/-/g, kMinus);

// 1234567 -> "1,234,567"
export const whole = (value: number) => withMinus(Math.round(value).toLocaleString("en-US"));

// Few digits, for reading: 0.1235, 12.3, 1,230, 1.2e-9.
export function short(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 10 ** digits && size < 1e9) return whole(value);
  if (size < 1e-4 || size >= 1e9) {
    const [mantissa, exponent] = value.toExponential(Math.max(digits - 2, 0)).split("e");
    return withMinus(`${mantissa}e${Number(exponent)}`);
  }
  return withMinus(Number(value.toPrecision(digits)).toString());
}

export const percent = (part: number) =>
  Math.abs(part) >= 0.1 || part === 0 ? `${withMinus((100 * part).toFixed(0))} %`
                                      : `${withMinus((100 * part).toPrecision(2))} %`;

// Shows few digits of a number, and has all of them for whoever asks.
export function exact(value: number, shown: string): HTMLElement {
  return h("data", { value: String(value), title: String(value) }, shown);
}

// The name of a channel, whatever characters it has.
export const nameOf = (name: string) => h("bdi", { class: "name", title: name }, name);

// As wide as the longest of the names, within reason.
export const namesWidth = (names: string[]) =>
  `${Math.min(Math.max(...names.map((name) => [...name].length), 2) + 1, 18)}ch`;

export function clipped(text: string, length = 40): string {
  const characters = [...text];
  return characters.length <= length ? text : characters.slice(0, length - 1).join("") + "…";
}

export function plural(count: number, one: string, several = one + "s"): string {
  return `${whole(count)} ${count === 1 ? one : several}`;
}

let lastId = 0;
export const newId = () => `e${++lastId}`;
