// A line between the browser and the server that can be cut: a small TCP relay on this machine.
import net from "node:net";

/** "open" carries everything, "cut" refuses, "deaf" carries requests and loses every answer. */
export async function openLine(address) {
  const target = new URL(address);
  const sockets = new Set();
  let state = "open";
  const server = net.createServer((near) => {
    if (state === "cut") return near.destroy();
    const far = net.connect(Number(target.port), target.hostname);
    sockets.add(near);
    near.on("close", () => {
      sockets.delete(near);
      far.destroy();
    });
    far.on("close", () => near.destroy());
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
    near.on("data", (data) => far.write(data));
    // The answer is lost, as in a tunnel: the request has arrived, and nobody will ever hear of it.
    far.on("data", (data) => (state === "deaf" ? near.destroy() : near.write(data)));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    turn(next) {
      state = next;
      for (const socket of sockets) socket.destroy();
    },
    close: () => server.close(),
  };
}
