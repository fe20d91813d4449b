/** Smaller copies of photos for slow connections; made only when the author allows it. */
import { readItem, writeItem } from "../../base/webStorage";
import { scale } from "./decodePhoto";

/** Enough for the largest rendition of all but tall pictures. */
const LONGEST_SIDE = 2_560;
const QUALITY = 0.86;
/** Below this a copy would save little. */
const MIN_BYTES = 700_000;
const SLOW = ["slow-2g", "2g", "3g"];
const SLOW_MBIT_S = 1.5;
const KEY = "tintype.shrink";

/** The parts of the Network Information API that are used; Safari and Firefox do not have it. */
interface Connection {
  readonly effectiveType?: string;
  readonly downlink?: number;
  readonly saveData?: boolean;
}

/** Whether the author allows smaller copies on slow connections; remembered on this device. */
export function mayShrink(): boolean {
  return readItem(KEY) === "yes";
}

export function allowShrinking(isAllowed: boolean): void {
  writeItem(KEY, isAllowed ? "yes" : null);
}

/** True when the browser says that the connection is slow, or that data is to be saved. */
export function isSlowConnection(
  connection: Connection | undefined = (navigator as { connection?: Connection }).connection,
): boolean {
  if (connection === undefined) return false;
  const { effectiveType = "", downlink = Number.POSITIVE_INFINITY, saveData = false } = connection;
  return saveData || SLOW.includes(effectiveType) || downlink < SLOW_MBIT_S;
}

/** A smaller JPEG of the photo; the file itself where that is not smaller or not possible. */
export async function shrink(file: File): Promise<File> {
  if (file.size < MIN_BYTES || !/^image\/(jpeg|webp|heic|heif)$/.test(file.type)) return file;
  try {
    const whole = await createImageBitmap(file);
    const small = await scale(whole, LONGEST_SIDE);
    const blob = (await isCanvasExact()) ? await encode(small) : null;
    whole.close();
    small.close();
    if (blob === null || blob.size >= file.size) return file;
    return new File([blob], file.name, { type: "image/jpeg", lastModified: file.lastModified });
  } catch {
    return file; // This browser cannot decode it: sent as it is.
  }
}

/** Some browsers add noise to what a page reads from a canvas, against fingerprinting; that would be published. */
async function isCanvasExact(): Promise<boolean> {
  const canvas = Object.assign(document.createElement("canvas"), { width: 16, height: 16 });
  const pen = canvas.getContext("2d");
  if (pen === null) return false;
  pen.fillStyle = "rgb(40, 120, 200)";
  pen.fillRect(0, 0, 16, 16);
  const { data } = pen.getImageData(0, 0, 16, 16);
  return data.every((value, at) => value === [40, 120, 200, 255][at % 4]);
}

function encode(picture: ImageBitmap): Promise<Blob | null> {
  const { width, height } = picture;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  canvas.getContext("2d")?.drawImage(picture, 0, 0);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
}
