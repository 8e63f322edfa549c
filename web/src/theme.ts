// Light or dark: as the system has it, until a person chooses. Pictures on a canvas ask for their colours here.

type Listener = () => void;
const listeners: Listener[] = [];
const system = matchMedia("(prefers-color-scheme: dark)");
let chosen: "light" | "dark" | null = null;

export const isDark = () => (chosen ?? (system.matches ? "dark" : "light")) === "dark";

function tell(): void {
  for (const listener of listeners) listener();
}
system.addEventListener("change", tell);

export function onTheme(listener: Listener): void {
  listeners.push(listener);
}

export function toggleTheme(): void {
  chosen = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = chosen;
  tell();
}

export const colour = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
const kSources = 7;
export const sourceColour = (component: number) => colour(`source-${component % kSources}`);
export const sourceClass = (component: number) => `source-${component % kSources}`;
