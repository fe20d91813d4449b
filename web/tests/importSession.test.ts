/** Uploads of an import: what the server has is not announced again, and a lost connection is waited for. */
import { beforeEach, expect, test, vi } from "vitest";
import { ImportSession } from "../src/app/settings/importSession.svelte";
import { retryNow } from "../src/base/backoff";
import { Problem } from "../src/client";
import * as client from "../src/client/imports";

vi.mock("../src/client/imports");
const calls = vi.mocked(client);
const file = new File(["0123456789"], "café.zip".normalize("NFD"));

function running(changes: Partial<client.Import> = {}): client.Import {
  return {
    import_id: "7",
    source: "instagram",
    state: "uploading",
    archives: [],
    ...changes,
  } as client.Import;
}

beforeEach(() => {
  vi.resetAllMocks();
  calls.listImports.mockResolvedValue({ imports: [running()], max_bytes: 100 });
  calls.getImport.mockResolvedValue(running());
  calls.addArchive.mockResolvedValue("1");
  calls.startImport.mockResolvedValue(running({ state: "waiting" }));
});

test("an archive that the server knows is continued, whatever form its name has", async () => {
  const known = {
    archive_id: "3",
    name: "café.zip".normalize("NFC"),
    size_bytes: 10,
    received_bytes: 4,
    upload_url: "",
  };
  calls.getImport.mockResolvedValue(running({ archives: [known] }));
  const session = new ImportSession();
  await session.load();

  await session.upload(running(), [file]);

  expect(calls.addArchive).not.toHaveBeenCalled();
  expect(calls.sendArchive.mock.calls[0]?.slice(0, 2)).toEqual(["7", "3"]);
  expect(session.current?.state).toBe("waiting");
});

test("without a connection it waits and goes on", async () => {
  const session = new ImportSession();
  await session.load();
  calls.sendArchive.mockRejectedValueOnce(new Problem({ status: 0, code: "offline" }));

  const uploading = session.upload(running(), [file]);
  await vi.waitFor(() => expect(session.isWaiting).toBe(true));
  retryNow();
  await uploading;

  expect(calls.sendArchive).toHaveBeenCalledTimes(2);
  expect([session.isWaiting, session.isSending]).toEqual([false, false]);
});

test("what the server refuses is an error, and nothing is started", async () => {
  const session = new ImportSession();
  await session.load();
  calls.addArchive.mockRejectedValue(new Problem({ status: 400, code: "archive_too_large" }));

  await expect(session.upload(running(), [file])).rejects.toMatchObject({ code: "archive_too_large" });

  expect(calls.startImport).not.toHaveBeenCalled();
});

test("an import that stopped goes on with the files that were kept", async () => {
  const stopped = running({ state: "stopped", kept_until: "2026-01-08T00:00:00Z" });
  calls.listImports.mockResolvedValue({ imports: [stopped], max_bytes: 100 });
  const session = new ImportSession();
  await session.load();
  expect(session.current).toBeNull();

  await session.resume(stopped);

  expect(calls.startImport).toHaveBeenCalledWith("7");
  expect(session.current?.state).toBe("waiting");
});
