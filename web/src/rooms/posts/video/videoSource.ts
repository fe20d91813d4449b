/** The URL of a video that this browser can play. */
import type { Media } from "../../../client";

const HLS = "application/vnd.apple.mpegurl";
let supportsHls: boolean | null = null;

/** HLS where the browser supports it natively, the MP4 file elsewhere; null while neither exists yet. */
export function videoSource(media: Pick<Media, "hls_url" | "video_url">): string | null {
  supportsHls ??= document.createElement("video").canPlayType(HLS) !== "";
  return (supportsHls ? media.hls_url : null) ?? media.video_url;
}
