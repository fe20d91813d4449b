import { afterEach, describe, expect, test } from "vitest";
import { language } from "../src/base/i18n";
import { Problem } from "../src/client";
import { errorMessage } from "../src/ui";

afterEach(() => language.use("en"));

describe("an error message", () => {
  test("is translated for a known code", () => {
    expect(errorMessage(new Problem({ status: 0, code: "offline" }))).toContain("offline");
  });

  test("is the server's detail, in English, when it says more", () => {
    const refusal = new Problem({ status: 400, code: "media_refused", detail: "That photo has 0 pixels." });
    expect(errorMessage(refusal)).toBe("That photo has 0 pixels.");
  });

  test("is in the current language otherwise", async () => {
    await language.use("de");
    const refusal = new Problem({ status: 400, code: "media_refused", detail: "That photo has 0 pixels." });
    expect(errorMessage(refusal)).toContain("kein Foto");
    expect(errorMessage(new Problem({ status: 404, code: "post_not_found", detail: "Gone." }))).toContain(
      "nicht mehr",
    );
  });

  test("of too many requests says when to try again", async () => {
    const refusal = new Problem({
      status: 429,
      code: "rate_limited",
      detail: "Too many.",
      retryAfterS: 1200,
    });
    expect(errorMessage(refusal)).toContain("in 20 minutes");
    await language.use("de");
    expect(errorMessage(refusal)).toContain("in 20 Minuten");
    expect(errorMessage(new Problem({ status: 429, code: "rate_limited" }))).toContain("Minute");
    await language.loadNamespaces("offline");
    expect(errorMessage(new Problem({ status: 413, code: "storage_full" }))).toContain("Speicher");
  });

  test("of a bug has the request id and none of its details", () => {
    const bug = new Problem({ status: 500, code: "internal", detail: "Traceback", requestId: "r-7" });
    expect(errorMessage(bug)).toContain("r-7");
    expect(errorMessage(bug)).not.toContain("Traceback");
    expect(errorMessage(new TypeError("x is undefined"))).not.toContain("undefined");
  });
});
