/** Records a voice message with the microphone, and its loudness as it goes. */
import { Problem } from "../../client";

/** The server takes no longer ones. */
export const LONGEST_MS = 5 * 60_000;
const SAMPLE_MS = 60;
/** So many bars are on screen while one records. */
const SHOWN_PEAKS = 48;
const TYPES = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus"] as const;

type RecorderState = "idle" | "asking" | "recording";

export class Recorder {
  state = $state.raw<RecorderState>("idle");
  elapsed_ms = $state.raw(0);
  /** The last peaks, 0 to 255. */
  peaks = $state.raw<readonly number[]>([]);
  readonly #ondone: (file: File) => void;
  #recording: MediaRecorder | null = null;
  #context: AudioContext | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isWanted = false;

  constructor(ondone: (file: File) => void) {
    this.#ondone = ondone;
  }

  /** Whether this browser can record at all. */
  static get isAvailable(): boolean {
    return "MediaRecorder" in globalThis && navigator.mediaDevices?.getUserMedia !== undefined;
  }

  /** Asks for the microphone and records; rejects where it may not be used. */
  async start(): Promise<void> {
    if (this.state !== "idle") return;
    this.state = "asking";
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      if (this.state !== "asking") return stopTracks(stream);
      this.#record(stream);
    } catch {
      this.state = "idle";
      throw new Problem({ status: 0, code: "microphone_refused" });
    }
  }

  /** Ends the recording, and hands it on. */
  finish(): void {
    this.#isWanted = true;
    this.#stop();
  }

  /** Ends the recording and drops it. */
  cancel(): void {
    this.#isWanted = false;
    this.#stop();
  }

  #record(stream: MediaStream): void {
    const type = TYPES.find((each) => MediaRecorder.isTypeSupported(each)) ?? "";
    const recording = new MediaRecorder(stream, type === "" ? {} : { mimeType: type });
    const parts: Blob[] = [];
    recording.ondataavailable = ({ data }) => parts.push(data);
    recording.onstop = () => {
      stopTracks(stream);
      if (this.#isWanted) this.#ondone(toFile(parts, recording.mimeType));
    };
    this.#recording = recording;
    this.#isWanted = false;
    this.#measure(stream);
    recording.start(1_000);
    this.state = "recording";
  }

  #measure(stream: MediaStream): void {
    const context = new AudioContext();
    const analyser = context.createAnalyser();
    analyser.fftSize = 1024;
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Uint8Array(analyser.fftSize);
    const started_ms = performance.now();
    this.#context = context;
    this.peaks = [];
    this.elapsed_ms = 0;
    this.#timer = setInterval(() => {
      analyser.getByteTimeDomainData(samples);
      this.peaks = [...this.peaks.slice(1 - SHOWN_PEAKS), loudness(samples)];
      this.elapsed_ms = performance.now() - started_ms;
      if (this.elapsed_ms >= LONGEST_MS) this.finish();
    }, SAMPLE_MS);
  }

  #stop(): void {
    clearInterval(this.#timer);
    void this.#context?.close();
    this.#context = null;
    if (this.#recording?.state === "recording") this.#recording.stop();
    this.#recording = null;
    this.state = "idle";
  }
}

/** The loudest of the samples (128 is silence), 0 to 255; quiet voices are raised. */
export function loudness(samples: ArrayLike<number>): number {
  let peak = 0;
  for (let index = 0; index < samples.length; index++)
    peak = Math.max(peak, Math.abs((samples[index] ?? 128) - 128));
  return Math.round(255 * Math.sqrt(Math.min(1, peak / 128)));
}

function toFile(parts: readonly Blob[], mimeType: string): File {
  const type = mimeType.split(";")[0] || "audio/webm";
  const ending = type === "audio/mp4" ? "m4a" : type === "audio/ogg" ? "ogg" : "webm";
  return new File([...parts], `voice.${ending}`, { type });
}

function stopTracks(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}
