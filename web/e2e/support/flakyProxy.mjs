// A TCP proxy between browser and server that can lose the connection.
import net from "node:net";

/**
 * Modes: "pass" relays everything, "refuse" closes connections, "drop-responses" relays requests and loses the responses,
 * "cut" loses every connection after so many bytes of requests.
 */
export async function openFlakyProxy(address, cutAfter_bytes = 0) {
  const target = new URL(address);
  const clients = new Set();
  let mode = "pass";
  const server = net.createServer((client) => {
    if (mode === "refuse") return client.destroy();
    const upstream = net.connect(Number(target.port), target.hostname);
    clients.add(client);
    client.on("close", () => {
      clients.delete(client);
      upstream.destroy();
    });
    upstream.on("close", () => client.destroy());
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    let sent_bytes = 0;
    client.on("data", (data) => {
      sent_bytes += data.length;
      upstream.write(data);
      if (mode === "cut" && sent_bytes > cutAfter_bytes) client.destroy();
    });
    // The server has handled the request, but the client never sees the response.
    upstream.on("data", (data) => (mode === "drop-responses" ? client.destroy() : client.write(data)));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    setMode(next) {
      mode = next;
      for (const client of clients) client.destroy();
    },
    close: () => server.close(),
  };
}
