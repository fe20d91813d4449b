/** The WebGL 2 renderer of a preview: one program, one photo, one LUT; uploads to the GPU only what changed. */
import { SIZE } from "./fold";
import type { Frame } from "./geometry";
import { FRAGMENT, VERTEX } from "./shaders";

export type Photo = ImageBitmap | HTMLCanvasElement | OffscreenCanvas;

export interface RenderParams {
  readonly frame: Frame;
  readonly turns: number;
  readonly mirrored: boolean;
  readonly tableKey: string;
  readonly table: () => Float32Array;
  readonly vignette: number;
  readonly grain: number;
}

/** Exact bytes: no antialiasing, no blending with the page, no colour conversion. */
const CONTEXT: WebGLContextAttributes = {
  alpha: false,
  antialias: false,
  depth: false,
  premultipliedAlpha: false,
};

export class WebGlRenderer {
  onRestored: (() => void) | null = null;
  #program: WebGLProgram | null = null;
  #photo: Photo | null = null;
  #tableKey: string | null = null;
  readonly #gl: WebGL2RenderingContext;
  readonly #canvas: HTMLCanvasElement | OffscreenCanvas;
  readonly #listeners = new AbortController();

  static create(canvas: HTMLCanvasElement | OffscreenCanvas): WebGlRenderer | null {
    const gl = canvas.getContext("webgl2", CONTEXT) as WebGL2RenderingContext | null;
    return gl && new WebGlRenderer(canvas, gl);
  }

  private constructor(canvas: HTMLCanvasElement | OffscreenCanvas, gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#canvas = canvas;
    this.#prepare();
    const { signal } = this.#listeners;
    // Without preventDefault a lost context is never restored.
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

  render(photo: Photo, params: RenderParams): void {
    const gl = this.#gl;
    if (gl.isContextLost() || !this.#program) return;
    const { width, height } = params.frame;
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    gl.viewport(0, 0, width, height);
    this.#uploadPhoto(photo);
    this.#uploadTable(params);
    this.#setUniforms(this.#program, params);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  close(): void {
    this.#listeners.abort();
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

  #uploadPhoto(photo: Photo): void {
    if (this.#photo === photo) return;
    const gl = this.#gl;
    gl.activeTexture(gl.TEXTURE0);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, photo);
    this.#photo = photo;
  }

  /** 32-bit floats: near white, half floats are as coarse as the 8-bit steps of the picture. */
  #uploadTable(params: RenderParams): void {
    if (this.#tableKey === params.tableKey) return;
    const gl = this.#gl;
    const table = params.table();
    gl.activeTexture(gl.TEXTURE1);
    gl.texImage3D(gl.TEXTURE_3D, 0, gl.RGBA32F, SIZE, SIZE, SIZE, 0, gl.RGBA, gl.FLOAT, table);
    this.#tableKey = params.tableKey;
  }

  #setUniforms(program: WebGLProgram, { frame, turns, mirrored, vignette, grain }: RenderParams): void {
    const gl = this.#gl;
    const location = (name: string) => gl.getUniformLocation(program, name);
    gl.uniform1i(location("photo"), 0);
    gl.uniform1i(location("table"), 1);
    gl.uniform2i(location("size"), frame.width, frame.height);
    gl.uniform4f(location("transform"), frame.a, frame.b, frame.left, frame.top);
    gl.uniform1i(location("turns"), turns);
    gl.uniform1i(location("mirrored"), mirrored ? 1 : 0);
    gl.uniform1f(location("vignette"), vignette);
    gl.uniform1f(location("grain"), grain);
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
