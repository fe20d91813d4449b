/**
 * Where a tagged point of a photo lies in the photo as it is edited, and back; fractions of width and height. Tags are kept in the
 * unedited photo, so that cropping, turning and mirroring leave them on the person. Pure.
 */
import type { Edit } from "../looks/edit";
import { frame } from "../looks/geometry";

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** From the unedited photo to the edited one; outside 0 to 1 where the point has been cropped away. */
export function toEdited({ x, y }: Point, photo: Size, edit: Edit): Point {
  const { a, b, left, top, width, height } = frame(photo.width, photo.height, edit);
  const turned = turn({ x: x * photo.width, y: y * photo.height }, photo, edit);
  const [across, down] = [turned.x - left, turned.y - top];
  return { x: (a * across - b * down) / width, y: (b * across + a * down) / height };
}

/** From the edited photo to the unedited one. */
export function toUnedited({ x, y }: Point, photo: Size, edit: Edit): Point {
  const { a, b, left, top, width, height } = frame(photo.width, photo.height, edit);
  const [across, down] = [x * width, y * height];
  const turned = { x: a * across + b * down + left, y: a * down - b * across + top };
  const straight = turnBack(turned, photo, edit);
  return { x: straight.x / photo.width, y: straight.y / photo.height };
}

/** Turns a point of the photo clockwise, then mirrors it; in pixels. */
function turn({ x, y }: Point, { width, height }: Size, { turns, mirrored }: Edit): Point {
  const turned = [
    { x, y },
    { x: height - y, y: x },
    { x: width - x, y: height - y },
    { x: y, y: width - x },
  ][turns] ?? { x, y };
  const wide = turns % 2 === 1 ? height : width;
  return mirrored ? { x: wide - turned.x, y: turned.y } : turned;
}

function turnBack(point: Point, { width, height }: Size, { turns, mirrored }: Edit): Point {
  const wide = turns % 2 === 1 ? height : width;
  const x = mirrored ? wide - point.x : point.x;
  const { y } = point;
  return (
    [
      { x, y },
      { x: y, y: height - x },
      { x: width - x, y: height - y },
      { x: width - y, y: x },
    ][turns] ?? { x, y }
  );
}
