import { expect, it } from "vitest";
import type { Question } from "../../api/types";
import { choicesFor, progressOf, typedFor } from "./answers";

it("says how far a question is that several people have to approve", () => {
  const kim = { by: "kim", at: 1 };
  expect(progressOf({})).toBeUndefined();
  expect(progressOf({ needed: 2 })).toBe("0 of 2 approvals");
  expect(progressOf({ needed: 3, approved: [kim, { by: "ana", at: 2 }] })).toBe("2 of 3 approvals, approved by kim, ana");
});

it("offers yes alone, beside no, where several people have to agree", () => {
  const question = { kind: "review", needed: 2 } as Question;
  expect(choicesFor(question).map(({ title }) => title)).toEqual(["Approve"]);
  expect(typedFor(question)).toBeUndefined();
});
