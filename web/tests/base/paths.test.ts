import { describe, expect, test } from "vitest";
import { matchPath, paths, safeNext } from "../../src/base/router/paths";

describe("a path", () => {
  test("matches a pattern with the same segments", () => {
    expect(matchPath("/", "/")).toEqual({});
    expect(matchPath("/p/:postId", "/p/42")).toEqual({ postId: "42" });
    expect(matchPath("/@:username", "/@bo.marsh")).toEqual({ username: "bo.marsh" });
  });

  test("may end with a slash", () => {
    expect(matchPath("/create", "/create/")).toEqual({});
  });

  test("does not match when a segment is missing, extra, empty or different", () => {
    expect(matchPath("/p/:postId", "/p")).toBeNull();
    expect(matchPath("/p/:postId", "/p/1/2")).toBeNull();
    expect(matchPath("/@:username", "/@")).toBeNull();
    expect(matchPath("/@:username", "/ana")).toBeNull();
  });

  test("with a malformed escape does not match", () => {
    expect(matchPath("/p/:postId", "/p/%E0%A4%A")).toBeNull();
  });

  test("is parsed to what it was built from", () => {
    expect(matchPath("/@:username", paths.profile("a/b ?"))).toEqual({ username: "a/b ?" });
  });
});

describe("the target after a login", () => {
  test("stays on this site", () => {
    expect(safeNext("/create")).toBe("/create");
    for (const trick of [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "javascript:alert(1)",
      null,
    ]) {
      expect(safeNext(trick)).toBe("/");
    }
  });

  test("is in the URL only when it is not home", () => {
    expect(paths.login("/")).toBe("/login");
    expect(paths.login("/create")).toBe("/login?next=%2Fcreate");
  });
});
