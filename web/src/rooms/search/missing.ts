import { Problem } from "../../client";

/** Nothing of that name exists, or not for this reader: the two look the same on purpose. */
export function isMissing(failure: unknown): boolean {
  return failure instanceof Problem && failure.status === 404;
}
