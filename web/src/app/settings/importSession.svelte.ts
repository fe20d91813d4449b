/** The viewer's imports: those there are, and the one whose archives this page is uploading. */
import { Backoff } from "../../base/backoff";
import { Problem } from "../../client";
import {
  addArchive,
  beginImport,
  cancelImport,
  getImport,
  type Import,
  type ImportSource,
  listImports,
  sendArchive,
  startImport,
} from "../../client/imports";

const UNDER_WAY: ReadonlySet<string> = new Set(["uploading", "waiting", "running"]);
const MAX_NAME_LENGTH = 200;
const HTTP_TOO_MANY = 429;
const HTTP_UNAVAILABLE = 500;

export class ImportSession {
  imports = $state.raw<readonly Import[] | null>(null);
  /** What the archives of an import may have together; zero where imports are switched off. */
  maxBytes = $state.raw(0);
  failure = $state.raw<unknown>(null);
  isSending = $state.raw(false);
  /** Without a connection: it goes on by itself. */
  isWaiting = $state.raw(false);
  sentBytes = $state.raw(0);
  totalBytes = $state.raw(0);
  #abort = new AbortController();

  readonly current = $derived(this.imports?.find(({ state }) => UNDER_WAY.has(state)) ?? null);
  readonly ended = $derived(this.imports?.filter(({ state }) => !UNDER_WAY.has(state)) ?? []);
  readonly share = $derived(this.totalBytes === 0 ? 0 : this.sentBytes / this.totalBytes);

  async load(): Promise<void> {
    this.failure = null;
    try {
      const { imports, max_bytes } = await listImports();
      this.imports = imports;
      this.maxBytes = max_bytes;
    } catch (error) {
      this.failure = error;
    }
  }

  /** Asks how far the import under way is; an answer that does not come is asked for again next time. */
  async refresh(): Promise<void> {
    if (this.current === null || this.isSending) return;
    try {
      this.#replace(await getImport(this.current.import_id));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  async begin(source: ImportSource, withStories: boolean, files: readonly File[]): Promise<void> {
    const begun = await beginImport(source, withStories);
    this.imports = [begun, ...(this.imports ?? [])];
    await this.upload(begun, files);
  }

  /** Uploads what the server does not have yet, and starts the import; the same files again continue where they ended. */
  async upload({ import_id }: Import, files: readonly File[]): Promise<void> {
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.isSending = true;
    this.sentBytes = 0;
    this.totalBytes = files.reduce((sum, { size }) => sum + size, 0);
    try {
      let before = 0;
      for (const file of files) {
        await this.#retried(() => this.#send(import_id, file, before, signal), signal);
        before += file.size;
      }
      this.#replace(await this.#retried(() => startImport(import_id), signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.isSending = false;
      this.isWaiting = false;
    }
  }

  /** Continues an import that stopped, with the files that the server has kept. */
  async resume({ import_id }: Import): Promise<void> {
    this.#replace(await startImport(import_id));
  }

  async cancel({ import_id }: Import): Promise<void> {
    this.#abort.abort();
    this.#replace(await cancelImport(import_id));
  }

  /** The page is left: the upload continues when its files are chosen again. */
  leave(): void {
    this.#abort.abort();
  }

  async #send(importId: string, file: File, before: number, signal: AbortSignal): Promise<void> {
    const { archives } = await getImport(importId);
    const known = archives.find(
      ({ name, size_bytes }) => name === shownName(file) && size_bytes === file.size,
    );
    const archiveId = known?.archive_id ?? (await addArchive(importId, file, signal));
    await sendArchive(importId, archiveId, file, signal, (bytes) => {
      this.isWaiting = false;
      this.sentBytes = before + bytes;
    });
  }

  /** Does something again, a little later each time, while there is no connection or the server cannot answer. */
  async #retried<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const backoff = new Backoff();
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted || !mayRetry(error)) throw error;
        this.isWaiting = true;
        await backoff.wait(signal);
      }
    }
  }

  #replace(changed: Import): void {
    this.imports =
      this.imports?.map((each) => (each.import_id === changed.import_id ? changed : each)) ?? null;
  }
}

/** A file's name as the server keeps it. */
function shownName({ name }: File): string {
  return [...name.normalize("NFC")].slice(0, MAX_NAME_LENGTH).join("").trim();
}

/** Whether an error may pass by itself: no connection, a busy server, or an offset that the lost request still moved. */
function mayRetry(error: unknown): boolean {
  if (!(error instanceof Problem)) return false;
  const { status, code } = error;
  return (
    status === 0 || status === HTTP_TOO_MANY || status >= HTTP_UNAVAILABLE || code === "upload_offset_wrong"
  );
}
