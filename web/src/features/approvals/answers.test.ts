import { expect, it } from "vitest";
import type { Question } from "../../api/types";
import { choicesFor, denialFor, typedFor } from "./answers";

const titles = (question: Partial<Question>) => choicesFor(question as Question).map(({ title, look }) => `${title} (${look})`);

it("offers yes alone, beside no, where several people have to agree", () => {
  const question = { kind: "review", needed: 2, choices: ["later"] } as Question;
  expect(titles(question)).toEqual(["Approve (main)"]);
  expect(typedFor(question)).toBeUndefined();
  expect(denialFor(question)).toBe("Deny");
});

it("always offers Approve beside further choices, as the main button", () => {
  for (const kind of ["approval", "consent", "review"] as const) {
    expect(titles({ kind, choices: ["tomorrow", "only canary"] })).toEqual(["Approve (main)", "tomorrow (plain)", "only canary (plain)"]);
  }
  expect(titles({ kind: "operator", choices: ["retry", "other agent"] })).toEqual(["Try again (main)", "Continue without it (plain)", "other agent (plain)"]);
  expect(titles({ kind: "question", choices: ["a", "b"] })).toEqual(["a (plain)", "b (plain)"]);
});
