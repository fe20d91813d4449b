import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Router } from "../../src/base/router/router.svelte";

const page = (name: string) => async () => ({ default: { name } as never });

function routes() {
  return [
    { pattern: "/", audience: "anyone" as const, load: page("home") },
    { pattern: "/p/:postId", audience: "anyone" as const, load: page("post") },
    { pattern: "/broken", audience: "anyone" as const, load: () => Promise.reject(new Error("gone")) },
  ];
}

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

describe("the router", () => {
  let router: Router;
  let stop: () => void;

  beforeEach(async () => {
    history.replaceState(null, "", "/");
    vi.stubGlobal("scrollTo", vi.fn());
    router = new Router();
    stop = router.start(routes());
    await settled();
  });
  afterEach(() => stop());

  function startSlow(): ReturnType<typeof deferred> {
    const slow = deferred();
    stop();
    stop = router.start([
      ...routes(),
      { pattern: "/slow", audience: "anyone", load: () => slow.promise.then(() => page("slow")()) },
    ]);
    return slow;
  }

  test("shows the page of the address it starts at", () => {
    expect(router.current?.page).toMatchObject({ name: "home" });
  });

  test("shows another page with its parameters, from the top", async () => {
    await router.navigate("/p/7");

    expect(router.current).toMatchObject({ page: { name: "post" }, params: { postId: "7" } });
    expect(scrollTo).toHaveBeenCalledWith(0, 0);
  });

  test("keeps an unknown address and resolves to no route", async () => {
    await router.navigate("/nowhere");

    expect(location.pathname).toBe("/nowhere");
    expect(router.current?.route).toBeNull();
  });

  test("reports a page whose chunk did not load", async () => {
    await router.navigate("/broken");

    expect(router.current?.page).toBeNull();
    expect(router.current?.failure).toBeInstanceOf(Error);
  });

  test("restores the scroll position", async () => {
    const start = history.state;
    vi.stubGlobal("scrollY", 1234);
    await router.navigate("/p/7");
    history.replaceState(start, "", "/");
    dispatchEvent(new PopStateEvent("popstate", { state: start }));
    await settled();

    expect(router.current?.page).toMatchObject({ name: "home" });
    expect(scrollTo).toHaveBeenLastCalledWith(0, 1234);
  });

  test("drops a page that was overtaken by a later navigation", async () => {
    const slow = startSlow();
    const first = router.navigate("/slow");
    await router.navigate("/p/1");
    slow.resolve();
    await first;

    expect(router.current?.page).toMatchObject({ name: "post" });
  });

  test("opens an overlay with its own address, and going back closes it", async () => {
    const below = history.state;
    const home = router.current;
    await router.openOverlay("/p/7");

    expect(location.pathname).toBe("/p/7");
    expect(router.overlay).toMatchObject({ page: { name: "post" }, params: { postId: "7" } });
    expect(router.current).toBe(home);

    history.replaceState(below, "", "/");
    dispatchEvent(new PopStateEvent("popstate", { state: below }));
    await settled();
    expect(router.overlay).toBeNull();
    expect(router.current).toBe(home);
  });

  test("returns to a page and its overlay from elsewhere", async () => {
    await router.openOverlay("/p/7");
    const covered = history.state;
    await router.navigate("/nowhere");
    history.replaceState(covered, "", "/p/7");
    dispatchEvent(new PopStateEvent("popstate", { state: covered }));
    await settled();
    await settled();

    expect(router.current?.page).toMatchObject({ name: "home" });
    expect(router.overlay?.page).toMatchObject({ name: "post" });
  });

  test("goes back once, however often it is called before that", async () => {
    const back = vi.spyOn(history, "back").mockImplementation(() => {});
    await router.navigate("/nowhere");
    await router.openOverlay("/p/7");
    router.back();
    router.back();

    expect(back).toHaveBeenCalledTimes(1);
    dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
    router.back();
    expect(back).toHaveBeenCalledTimes(2);
    back.mockRestore();
  });

  test("goes home when the visitor came from outside, also after a redirect", async () => {
    await router.navigate("/nowhere", { replace: true });
    router.back();
    await settled();

    expect(router.current?.page).toMatchObject({ name: "home" });
  });

  test("drops an overlay that was closed before it loaded", async () => {
    const below = history.state;
    const slow = startSlow();
    const opening = router.openOverlay("/slow");
    history.replaceState(below, "", "/");
    dispatchEvent(new PopStateEvent("popstate", { state: below }));
    slow.resolve();
    await opening;

    expect(router.overlay).toBeNull();
  });

  test("shows a page that was still loading below an overlay opened meanwhile", async () => {
    const slow = startSlow();
    const moving = router.navigate("/slow");
    await router.openOverlay("/p/7");
    slow.resolve();
    await moving;

    expect(router.current?.page).toMatchObject({ name: "slow" });
    expect(router.overlay?.page).toMatchObject({ name: "post" });
    expect(router.isNavigating).toBe(false);
  });

  test("shows an overlay as a page after a reload", async () => {
    await router.openOverlay("/p/7");
    stop();
    const reloaded = new Router();
    stop = reloaded.start(routes());
    await settled();

    expect(reloaded.current?.page).toMatchObject({ name: "post" });
    expect(reloaded.overlay).toBeNull();
  });
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
