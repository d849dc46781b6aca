import { expect, it } from "vitest";
import { hasApproved, missingOf, progressOf, whoMay } from "./people";

const kim = { by: "kim", at: 1 };
const here = { ok: true };

it("says how far a question is that several people have to approve", () => {
  expect(progressOf({})).toBeUndefined();
  expect(progressOf({ needed: 2 })).toBe("0 of 2 approvals");
  expect(progressOf({ needed: 3, approved: [kim, { by: "ana", at: 2 }] })).toBe("2 of 3 approvals, approved by kim, ana");
});

it("says who is missing", () => {
  expect(missingOf({ here })).toBeUndefined();
  expect(missingOf({ here, needed: 2, approved: [kim], approvals: { from: ["kim", "ana"], count: 2 } })).toBe("Missing: ana");
  expect(missingOf({ here, needed: 2, approved: [kim], approvals: { from: ["kim", "ana", "bob"], count: 2 } })).toBe("Missing: 1 of ana, bob");
  expect(missingOf({ here, needed: 2, approvals: { from: "role:release", count: 2, not_starter: true } })).toBe(
    "Missing: 2 more people with the role release, not the person who started the run",
  );
  expect(missingOf({ here, needed: 2, approved: [kim], approvals: { from: "anyone", count: 2 } })).toBe("Missing: 1 more person");
});

it("says who may answer", () => {
  const other = { ok: false };
  expect(whoMay({ here })).toBe("you can answer");
  expect(whoMay({ here: other, approvals: "role:ops" })).toBe("role ops");
  expect(whoMay({ here: other, approvals: { from: ["kim", "ana"], count: 1 } })).toBe("kim, ana");
  expect(whoMay({ here: other })).toBe("its owner");
  expect(whoMay({ here: { ok: false, override: true } })).toBe("its owner, or you in their place");
});

it("knows who has approved", () => {
  expect([hasApproved({ here, approved: [kim] }, "kim"), hasApproved({ here, approved: [kim] }, "ana"), hasApproved({ here }, undefined)]).toEqual([true, false, false]);
});
