/** The direction of an arrow key as [x, y], or null for other keys. */
export function arrowDirection(key: string): readonly [number, number] | null {
  if (key === "ArrowLeft") return [-1, 0];
  if (key === "ArrowRight") return [1, 0];
  if (key === "ArrowUp") return [0, -1];
  return key === "ArrowDown" ? [0, 1] : null;
}
