// Observes the live connection of a page from outside: its sockets, its requests, and what its tabs tell each other.

/** Counts the sockets and requests of a page from now on. */
export function watchNetwork(page) {
  const sockets = [];
  const requests = [];
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).pathname !== "/mqtt") return;
    const one = { isOpen: true, received: 0 };
    sockets.push(one);
    socket.on("framereceived", () => (one.received += 1));
    socket.on("close", () => (one.isOpen = false));
  });
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  return {
    sockets,
    open: () => sockets.filter(({ isOpen, received }) => isOpen && received >= 2), // Connected and subscribed.
    countRequests: (path) => requests.filter((each) => each === path).length,
  };
}

/** Records in the page the numbers of all updates that the leading tab delivers. */
export function recordUpdates(page, accountId) {
  return page.evaluate((id) => {
    window.deliveredSeqs = [];
    window.liveChannel = new BroadcastChannel(`tintype.live.${id}`);
    window.liveChannel.onmessage = ({ data }) => {
      if (data.type === "message" && data.leaf === "updates") window.deliveredSeqs.push(data.content.seq);
    };
  }, accountId);
}

export const deliveredSeqs = (page) => page.evaluate(() => window.deliveredSeqs);

/** How many entries of each kind the device holds for live connections. */
export function readLiveStores(page) {
  return page.evaluate(async () => {
    const database = await new Promise((resolve, reject) => {
      const request = indexedDB.open("tintype-live");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const count = (name) =>
      new Promise((resolve, reject) => {
        const request = database.transaction(name).objectStore(name).count();
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const names = [...database.objectStoreNames];
    const counts = await Promise.all(names.map(count));
    database.close();
    return Object.fromEntries(names.map((name, index) => [name, counts[index]]));
  });
}
