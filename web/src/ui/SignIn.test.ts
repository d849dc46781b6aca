import { expect, it } from "vitest";
import { tokenIn } from "./SignIn";

it("finds the token in what was pasted", () => {
  expect(tokenIn(" lh_abc\n")).toBe("lh_abc");
  expect(tokenIn("http://127.0.0.1:8975/login?token=lh_abc")).toBe("lh_abc");
  expect(tokenIn("  http://127.0.0.1:8975/login?x=1&token=lh_abc&y=2 ")).toBe("lh_abc");
});
