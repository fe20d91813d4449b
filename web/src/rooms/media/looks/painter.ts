/** The WebGL 2 side of a preview: one program, one photo, one table; remembers what the GPU already has. */
import { SIZE } from "./fold";
import type { Frame } from "./geometry";
import { FRAGMENT, VERTEX } from "./shaders";

export type Photo = ImageBitmap | HTMLCanvasElement | OffscreenCanvas;

export interface Painting {
  readonly frame: Frame;
  readonly turns: number;
  readonly mirrored: boolean;
  readonly tableKey: string;
  readonly table: () => Float32Array;
  readonly vignette: number;
  readonly grain: number;
}

/** Exact bytes or nothing: no smoothing, no blending with the page, no conversion of colours. */
const CONTEXT: WebGLContextAttributes = {
  alpha: false,
  antialias: false,
  depth: false,
  premultipliedAlpha: false,
};

export class Painter {
  onRestored: (() => void) | null = null;
  #program: WebGLProgram | null = null;
  #photo: Photo | null = null;
  #tableKey: string | null = null;
  readonly #gl: WebGL2RenderingContext;
  readonly #canvas: HTMLCanvasElement | OffscreenCanvas;
  readonly #ears = new AbortController();

  static on(canvas: HTMLCanvasElement | OffscreenCanvas): Painter | null {
    const gl = canvas.getContext("webgl2", CONTEXT) as WebGL2RenderingContext | null;
    return gl && new Painter(canvas, gl);
  }

  private constructor(canvas: HTMLCanvasElement | OffscreenCanvas, gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#canvas = canvas;
    this.#prepare();
    const { signal } = this.#ears;
    // Without preventDefault a lost context never comes back.
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault(), { signal });
    canvas.addEventListener(
      "webglcontextrestored",
      () => {
        this.#prepare();
        this.onRestored?.();
      },
      { signal },
    );
  }

  paint(photo: Photo, painting: Painting): void {
    const gl = this.#gl;
    if (gl.isContextLost() || !this.#program) return;
    const { width, height } = painting.frame;
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    gl.viewport(0, 0, width, height);
    this.#keepPhoto(photo);
    this.#keepTable(painting);
    this.#tell(this.#program, painting);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  close(): void {
    this.#ears.abort();
    this.#photo = null;
    this.#gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  #prepare(): void {
    const gl = this.#gl;
    this.#photo = null;
    this.#tableKey = null;
    this.#program = link(gl);
    for (const [unit, kind] of [gl.TEXTURE_2D, gl.TEXTURE_3D].entries()) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(kind, gl.createTexture());
      gl.texParameteri(kind, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(kind, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    gl.disable(gl.DITHER);
    gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
  }

  #keepPhoto(photo: Photo): void {
    if (this.#photo === photo) return;
    const gl = this.#gl;
    gl.activeTexture(gl.TEXTURE0);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, photo);
    this.#photo = photo;
  }

  /** In full floats: half of them are as coarse as the picture's own steps near white. */
  #keepTable(painting: Painting): void {
    if (this.#tableKey === painting.tableKey) return;
    const gl = this.#gl;
    const table = painting.table();
    gl.activeTexture(gl.TEXTURE1);
    gl.texImage3D(gl.TEXTURE_3D, 0, gl.RGBA32F, SIZE, SIZE, SIZE, 0, gl.RGBA, gl.FLOAT, table);
    this.#tableKey = painting.tableKey;
  }

  #tell(program: WebGLProgram, { frame, turns, mirrored, vignette, grain }: Painting): void {
    const gl = this.#gl;
    const place = (name: string) => gl.getUniformLocation(program, name);
    gl.uniform1i(place("photo"), 0);
    gl.uniform1i(place("table"), 1);
    gl.uniform2i(place("size"), frame.width, frame.height);
    gl.uniform4f(place("turn"), frame.a, frame.b, frame.left, frame.top);
    gl.uniform1i(place("turns"), turns);
    gl.uniform1i(place("mirrored"), mirrored ? 1 : 0);
    gl.uniform1f(place("vignette"), vignette);
    gl.uniform1f(place("grain"), grain);
  }
}

function link(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind);
    if (!shader) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(gl.getProgramInfoLog(program) ?? "the shader does not link");
  gl.useProgram(program);
  return program;
}
