import { afterEach, expect, test } from "vitest";
import { internalTarget } from "../../src/base/router/links";

afterEach(() => {
  document.body.innerHTML = "";
});

function click(html: string, init: MouseEventInit = {}): URL | null {
  document.body.innerHTML = html;
  let found: URL | null = null;
  const listen = (event: MouseEvent) => {
    found = internalTarget(event);
    event.preventDefault();
  };
  addEventListener("click", listen, { once: true });
  document.body
    .querySelector("a *, a")
    ?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ...init }));
  return found;
}

test("a plain click on an internal link is handled without a reload", () => {
  expect(click('<a href="/p/1"><b>open</b></a>')?.pathname).toBe("/p/1");
});

test("clicks that open a new tab are left to the browser", () => {
  expect(click('<a href="/p/1">open</a>', { ctrlKey: true })).toBeNull();
  expect(click('<a href="/p/1">open</a>', { button: 1 })).toBeNull();
  expect(click('<a href="/p/1" target="_blank">open</a>')).toBeNull();
});

test("external links, downloads, the API and fragments are left to the browser", () => {
  expect(click('<a href="https://example.org/">away</a>')).toBeNull();
  expect(click('<a href="/p/1" download>save</a>')).toBeNull();
  expect(click('<a href="/api/docs">docs</a>')).toBeNull();
  expect(click(`<a href="${location.pathname}#main">skip</a>`)).toBeNull();
});
