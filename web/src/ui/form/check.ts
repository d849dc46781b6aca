// Checks of typed texts and numbers. The server checks again, and everything else.

import type { NumberNode, TextNode } from "./model";

export function textProblem({ min, max, pattern, format }: TextNode, text: string): string | undefined {
  const length = [...text].length;
  if (min !== undefined && length < min) return `This must have at least ${characters(min)}.`;
  if (max !== undefined && length > max) return `This must have at most ${characters(max)}.`;
  if (pattern !== undefined && isHarmless(pattern, text) && !matches(pattern, text)) return `This must match the pattern ${pattern}`;
  return format === undefined ? undefined : formatProblem(format, text);
}

function characters(n: number): string {
  return n === 1 ? "1 character" : `${n} characters`;
}

const TEXT_MAX = 200;
const PATTERN_MAX = 100;
const REPEATS_MAX = 3;

/**
 * Whether the browser can try a pattern without hanging: no repeated groups, few repeats, a short text. The server tries every
 * pattern, with a limit.
 */
export function isHarmless(pattern: string, text: string): boolean {
  if (pattern.length > PATTERN_MAX || text.length > TEXT_MAX) return false;
  const repeats = pattern.match(/[*+]|\{\d*,\}/g)?.length ?? 0;
  return repeats <= REPEATS_MAX && !/\)[*+{]/.test(pattern) && !/\\[1-9k]/.test(pattern) && !/\{\d{3,}/.test(pattern);
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

const FORMATS: Record<string, { fits: (text: string) => boolean; example: string }> = {
  email: { fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text), example: "name@example.com" },
  uri: { fits: (text) => URL.canParse(text), example: "https://example.com" },
  date: { fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)), example: "2026-11-30" },
  time: { fits: (text) => /^\d\d:\d\d/.test(text), example: "17:30:00Z" },
  "date-time": { fits: (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)), example: "2026-11-30T17:30:00Z" },
};

function formatOf(format: string) {
  return Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
}

export function exampleOf(format: string | undefined): string | undefined {
  return format === undefined ? undefined : formatOf(format)?.example;
}

function formatProblem(format: string, text: string): string | undefined {
  const known = formatOf(format);
  return known && !known.fits(text) ? `This must look like ${known.example}.` : undefined;
}

export function numberProblem({ integer, min, max, above, below, step }: NumberNode, text: string): string | undefined {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return "This must be a number.";
  if (integer && !Number.isInteger(value)) return "This must be a whole number.";
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return "This number has too many digits for a browser.";
  if (min !== undefined && value < min) return `This must be at least ${min}.`;
  if (max !== undefined && value > max) return `This must be at most ${max}.`;
  if (above !== undefined && value <= above) return `This must be more than ${above}.`;
  if (below !== undefined && value >= below) return `This must be less than ${below}.`;
  return step !== undefined && !isMultiple(value, step) ? `This must be a multiple of ${step}.` : undefined;
}

/** Whether a number is a multiple, as far as decimal fractions allow. */
function isMultiple(value: number, step: number): boolean {
  if (step <= 0) return true;
  const times = value / step;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}
