/** Which address of a clip this browser can play. */
import type { Media } from "../../../client";

const HLS = "application/vnd.apple.mpegurl";
let playsHls: boolean | null = null;

/** Segments where the browser plays them itself, one file elsewhere; null while neither is there. */
export function sourceOf(media: Pick<Media, "hls_url" | "video_url">): string | null {
  playsHls ??= document.createElement("video").canPlayType(HLS) !== "";
  return (playsHls ? media.hls_url : null) ?? media.video_url;
}
