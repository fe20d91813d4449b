/** Paints a photo from this device on a canvas: the CSP allows no blob: images. */
const WIDTH_PX = 512;

/** Does nothing where the browser cannot decode the file; the frame stays empty then. */
export function paintPicture(canvas: HTMLCanvasElement, file: File): () => void {
  let isGone = false;
  createImageBitmap(file, { resizeWidth: WIDTH_PX, resizeQuality: "medium" }).then(
    (bitmap) => {
      if (!isGone) {
        canvas.width = bitmap.width;
        canvas.height = bitmap.height;
        canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
      }
      bitmap.close();
    },
    () => undefined,
  );
  return () => {
    isGone = true;
  };
}
