import { expect, it } from "vitest";
import { keyOf, movedTo, nextKey, sorted } from "./inbox";

const one = { run: "r-1", path: "go", asked_at: 1 };
const again = { ...one, asked_at: 2 };

it("tells a question from the same step's next one", () => {
  expect(keyOf(one)).not.toBe(keyOf(again));
});

it("offers another question after one is gone", () => {
  expect(nextKey([one, again], keyOf(one))).toBe(keyOf(again));
  expect(nextKey([again], keyOf(one))).toBe(keyOf(again));
  expect(nextKey([], keyOf(one))).toBeUndefined();
});

it("moves inside the list", () => {
  expect([movedTo(-1, 1, 3), movedTo(-1, -1, 3), movedTo(2, 1, 3), movedTo(0, -1, 3), movedTo(1, 1, 3), movedTo(0, 1, 0)]).toEqual([0, 2, 2, 0, 2, -1]);
});

it("begins with what the user can answer", () => {
  const list = [false, true, false, true].map((ok, n) => ({ n, here: { ok } }));
  expect(sorted(list).map(({ n }) => n)).toEqual([1, 3, 0, 2]);
});
