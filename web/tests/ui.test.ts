import { afterEach, describe, expect, test } from "vitest";
import { language } from "../src/base/i18n";
import { Problem } from "../src/client";
import { explain } from "../src/ui";

afterEach(() => language.use("en"));

describe("an explanation", () => {
  test("is ours for a code we know", () => {
    expect(explain(new Problem({ status: 0, code: "offline" }))).toContain("offline");
  });

  test("is the server's own, for English readers, when it says more", () => {
    const refusal = new Problem({ status: 400, code: "media_refused", detail: "That photo has 0 pixels." });
    expect(explain(refusal)).toBe("That photo has 0 pixels.");
  });

  test("is in the reader's language otherwise", async () => {
    await language.use("de");
    const refusal = new Problem({ status: 400, code: "media_refused", detail: "That photo has 0 pixels." });
    expect(explain(refusal)).toContain("kein Foto");
    expect(explain(new Problem({ status: 404, code: "post_not_found", detail: "Gone." }))).toContain(
      "nicht mehr",
    );
  });

  test("of a bug names the number that helps to find it, and none of its details", () => {
    const bug = new Problem({ status: 500, code: "internal", detail: "Traceback", requestId: "r-7" });
    expect(explain(bug)).toContain("r-7");
    expect(explain(bug)).not.toContain("Traceback");
    expect(explain(new TypeError("x is undefined"))).not.toContain("undefined");
  });
});
