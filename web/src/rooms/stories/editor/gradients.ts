/** Plain backgrounds for stories without a photo: drawn here and uploaded like one. */

export const GRADIENTS = [
  ["#2b2320", "#0e0c0b"],
  ["#d9b467", "#7a3b2a"],
  ["#ee8391", "#5b2a55"],
  ["#7fb28a", "#1f4a4f"],
  ["#8fb6d6", "#2f3f73"],
  ["#f4efe6", "#c9b99c"],
] as const;
export type Gradient = (typeof GRADIENTS)[number];

const WIDTH = 1_080;
const HEIGHT = 1_920;

export async function drawGradient([from, to]: Gradient): Promise<File> {
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = HEIGHT;
  const pen = canvas.getContext("2d");
  if (pen === null) throw new Error("This browser cannot draw.");
  const gradient = pen.createLinearGradient(0, 0, WIDTH * 0.6, HEIGHT);
  gradient.addColorStop(0, from);
  gradient.addColorStop(1, to);
  pen.fillStyle = gradient;
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.95));
  if (blob === null) throw new Error("This browser cannot draw.");
  return new File([blob], "background.jpg", { type: "image/jpeg" });
}
