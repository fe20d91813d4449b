import type { UploadedMedia } from "../../src/client";

export function sampleMedia(id: string): UploadedMedia {
  return {
    media_id: id,
    type: "image",
    state: "ready",
    progress: 100,
    error: null,
    urls: {},
    squares: {},
    video_url: null,
    hls_url: null,
    duration_ms: null,
    width: 1,
    height: 1,
    placeholder: null,
    expires_at: null,
    removed: [],
    voice_url: null,
    waveform: null,
    camera: null,
  };
}
