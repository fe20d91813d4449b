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

  test("looks up an address that no route matches in those that load later", async () => {
    const loadOthers = vi.fn(async () => [
      { pattern: "/later", audience: "anyone" as const, load: page("later") },
    ]);
    stop();
    stop = router.start(routes(), loadOthers);

    await router.navigate("/p/7");
    expect(loadOthers).not.toHaveBeenCalled();

    await router.navigate("/later");
    expect(router.current?.page).toMatchObject({ name: "later" });

    await router.navigate("/nowhere");
    expect(router.current).toMatchObject({ route: null, page: null, failure: null });
  });

  test("says that the routes did not load, and tries again at the next navigation", async () => {
    const loadOthers = vi
      .fn(async () => [{ pattern: "/later", audience: "anyone" as const, load: page("later") }])
      .mockRejectedValueOnce(new Error("offline"));
    stop();
    stop = router.start(routes(), loadOthers);

    await router.navigate("/later");
    expect(router.current).toMatchObject({ page: null, failure: new Error("offline") });

    await router.navigate("/later");
    expect(router.current?.page).toMatchObject({ name: "later" });
  });

  test("goes on to another page in the overlay, and back to the page below in one step", async () => {
    await router.openOverlay("/p/7");
    const entries = history.length;
    await router.replaceOverlay("/p/8");

    expect(router.overlay).toMatchObject({ params: { postId: "8" } });
    expect(router.current?.page).toMatchObject({ name: "home" });
    expect([location.pathname, history.length]).toEqual(["/p/8", entries]);
  });

  test("changes the address of what is shown, and nothing else", async () => {
    await router.openOverlay("/p/7");
    const { overlay } = router;
    router.replaceAddress("/p/9?story=1");

    expect(location.pathname + location.search).toBe("/p/9?story=1");
    expect(router.overlay).toBe(overlay);
    expect(router.path).toBe("/");
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

  test("closes a layer on Back and leaves the page as it was", async () => {
    const page = router.current;
    const close = vi.fn();
    router.openLayer(close);
    router.back();
    await vi.waitFor(() => expect(close).toHaveBeenCalledOnce());

    expect(router.current).toBe(page);
    expect(scrollTo).not.toHaveBeenCalled();
  });

  test("closes a layer when it navigates, and goes back to the page below it at once", async () => {
    const close = vi.fn();
    router.openLayer(close);
    await router.navigate("/p/7");
    expect(close).toHaveBeenCalledOnce();
    router.back();
    await vi.waitFor(() => expect(router.current?.page).toMatchObject({ name: "home" }));
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
