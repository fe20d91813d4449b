/** The edit of a photo; the same fields, ranges and meaning as the server's `Edit`. */
export interface Crop {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Edit {
  /** Quarter turns, clockwise. */
  readonly turns: number;
  /** Mirrored horizontally, after the turns. */
  readonly mirrored: boolean;
  /** Degrees, clockwise, from -25 to 25. */
  readonly straighten: number;
  /** Fractions of the photo after turning and straightening. */
  readonly crop: Crop;
  readonly look: string | null;
  /** The strength of the look, 0 to 100. */
  readonly strength: number;
  /** -100 to 100, as are the next three. */
  readonly brightness: number;
  readonly contrast: number;
  readonly saturation: number;
  readonly warmth: number;
  /** 0 to 100, added to the look's own. */
  readonly vignette: number;
  readonly grain: number;
}

/** A look as the API lists it. */
export interface Look {
  readonly id: string;
  readonly name: string;
  /** The URL of its LUT strip. */
  readonly strip: string;
  readonly vignette: number;
  readonly grain: number;
}

/** The neutral edit. */
export const PLAIN: Edit = {
  turns: 0,
  mirrored: false,
  straighten: 0,
  crop: { x: 0, y: 0, width: 1, height: 1 },
  look: null,
  strength: 100,
  brightness: 0,
  contrast: 0,
  saturation: 0,
  warmth: 0,
  vignette: 0,
  grain: 0,
};

/** Whether an edit leaves the photo unchanged, as a look of strength 0 does. */
export function isPlain(edit: Edit): boolean {
  const { look, strength, crop, ...others } = edit;
  const { look: _look, strength: _strength, crop: whole, ...plain } = PLAIN;
  if (look !== null && strength > 0) return false;
  return JSON.stringify([crop, others]) === JSON.stringify([whole, plain]);
}

/** Vignette and grain from 0 to 1: the look's own, scaled by its strength, plus the sliders. */
export function amounts(edit: Edit, look: Look | null): { vignette: number; grain: number } {
  const share = edit.strength / 100;
  const vignette = edit.vignette + (look ? look.vignette * share : 0);
  const grain = edit.grain + (look ? look.grain * share : 0);
  return { vignette: Math.min(vignette, 100) / 100, grain: Math.min(grain, 100) / 100 };
}
